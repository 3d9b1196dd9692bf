"""``make nemesis``: two hundred faults. ``--seed`` with the seed of a failed run plays it again."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.nemesis.node import WITHOUT
from tests.nemesis.pair import pair
from tests.nemesis.rig import Fault, Rig


def main() -> int:
    """0 if all that was let out is one history."""
    arguments = argparse.ArgumentParser(prog="make nemesis", description=__doc__)
    arguments.add_argument("--faults", type=int, default=200, help="default: 200")
    arguments.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="default: another each time")
    arguments.add_argument("--without", choices=WITHOUT, default="", help="a control")
    arguments.add_argument("--only", choices=[*Fault.__members__], help="this fault alone")
    chosen = arguments.parse_args()
    with TemporaryDirectory() as folder, pair() as database:
        if database is None:
            print("there is no PostgreSQL here: neither pgserver from PyPI nor one of the system", file=sys.stderr)
            return 1
        print(f"{chosen.faults} faults, seed {chosen.seed}", flush=True)
        rig = Rig(database, Path(folder), chosen.seed, chosen.without, partial(print, flush=True))
        problems = asyncio.run(rig.run(chosen.faults, Fault[chosen.only] if chosen.only else None))
    for fault, number in sorted(rig.faults.items()):
        print(f"{number:5} {fault}")
    if rig.waited_s:
        print(f"{max(rig.waited_s):.1f} s at most from the command that requires no standby until all games went on")
    if len(rig.possible) < len(Fault):
        print("no library can be put under the server here: its disk and its clock were left alone")
    print(f"{rig.let_out} heads let out, {len(problems)} problems")
    print("\n".join(problems[:20]))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
