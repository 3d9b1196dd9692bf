"""``make crash``: kill -9 under load, many times over. ``--seed`` with the seed of a failed run plays it again."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from pathlib import Path
from tempfile import mkdtemp

from tests.crash.rig import Rig


def main() -> int:
    """0 if everything that was acknowledged is in the logs."""
    arguments = argparse.ArgumentParser(prog="make crash", description=__doc__)
    arguments.add_argument("--rounds", type=int, default=200, help="kills (default: 200)")
    arguments.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="default: another each time")
    chosen = arguments.parse_args()
    folder = Path(mkdtemp(prefix="crash-"))
    rig = Rig(folder, chosen.seed)
    print(f"{chosen.rounds} rounds, seed {chosen.seed}, in {folder}", flush=True)
    try:
        asyncio.run(rig.run(chosen.rounds))
    except BaseException:
        print(f"again: make crash ARGS='--rounds {chosen.rounds} --seed {chosen.seed}'", file=sys.stderr)
        raise
    print(rig.report())
    return 0


if __name__ == "__main__":
    sys.exit(main())
