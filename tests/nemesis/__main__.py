"""``make nemesis``: two hundred faults."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.nemesis.rig import Rig
from tests.store.postgres import running


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.nemesis")
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-fence", action="store_true", help="the control, which has to find something")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder, running() as server:
        if server is None:
            sys.exit("there is no PostgreSQL here: neither pgserver from PyPI nor one of the system")
        rig = Rig(server, Path(folder), arguments.seed, fence=not arguments.no_fence)
        problems = asyncio.run(rig.run(arguments.faults))
        for fault, number in sorted(rig.faults.items()):
            print(f"{number:5} {fault}")
        print(f"{rig.let_out} heads let out, {len(problems)} problems")
        print("\n".join(problems[:20]))
        sys.exit(bool(problems))


if __name__ == "__main__":
    main()
