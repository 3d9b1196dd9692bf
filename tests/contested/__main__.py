"""A campaign: makes many games and counts what is in them.

python -m tests.contested --games 300
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

from referee.games import registry
from tests.contested.contents import contents
from tests.contested.games import game


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=300, help="how many, of all rules together")
    chosen = parser.parse_args()
    for rules_id in registry.names():
        began, found, entries = time.process_time(), Counter[str](), 0
        for number in range(-(-chosen.games // len(registry.names()))):
            made = game(rules_id, number)
            found.update(contents(made))
            entries += len(made.entries)
        print(f"{rules_id}: {entries} entries, {time.process_time() - began:.1f} s of CPU time")
        for name, count in sorted(found.items()):
            print(f"  {count:>6}  {name}")


if __name__ == "__main__":
    main()
