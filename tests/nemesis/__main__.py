"""``make nemesis``: two hundred faults. ``--seed`` with the seed of a failed run plays it again."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.nemesis.pair import pair
from tests.nemesis.rig import Rig


def main() -> int:
    """0 if all that was let out is one history."""
    arguments = argparse.ArgumentParser(prog="make nemesis", description=__doc__)
    arguments.add_argument("--faults", type=int, default=200, help="default: 200")
    arguments.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="default: another each time")
    arguments.add_argument("--without", choices=("fence", "heed"), default="", help="a control, which finds something")
    chosen = arguments.parse_args()
    with TemporaryDirectory() as folder, pair() as database:
        if database is None:
            print("there is no PostgreSQL here: neither pgserver from PyPI nor one of the system", file=sys.stderr)
            return 1
        print(f"{chosen.faults} faults, seed {chosen.seed}", flush=True)
        rig = Rig(database, Path(folder), chosen.seed, chosen.without)
        problems = asyncio.run(rig.run(chosen.faults))
    for fault, number in sorted(rig.faults.items()):
        print(f"{number:5} {fault}")
    print(f"{rig.let_out} heads let out, {len(problems)} problems")
    print("\n".join(problems[:20]))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
