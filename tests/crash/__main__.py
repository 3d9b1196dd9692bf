"""``make crash``: kill -9 under load, many times over. ``--seed`` with the seed of a failed run plays it again."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

from tests.crash.rig import Rig
from tests.server.store.postgres import running


def main() -> int:
    """0 if everything that was acknowledged is in the logs."""
    arguments = argparse.ArgumentParser(prog="make crash", description=__doc__)
    arguments.add_argument("--rounds", type=int, default=200, help="kills (default: 200)")
    arguments.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="default: another each time")
    arguments.add_argument("--store", choices=("file", "postgresql"), default="file", help="default: file")
    chosen = arguments.parse_args()
    folder = Path(mkdtemp(prefix="crash-"))
    with running() if chosen.store == "postgresql" else nullcontext() as server:
        if chosen.store == "postgresql" and server is None:
            print("there is no PostgreSQL here: neither pgserver from PyPI nor one of the system", file=sys.stderr)
            return 1
        rig = Rig(folder, chosen.seed, partial(print, flush=True), server=server)
        words = f"--rounds {chosen.rounds} --seed {chosen.seed} --store {chosen.store}"
        print(f"{words}, in {folder}", flush=True)
        try:
            asyncio.run(rig.run(chosen.rounds))
        except BaseException:
            print(f"again: make crash ARGS='{words}'", file=sys.stderr)
            raise
        print(rig.report())
        return 0


if __name__ == "__main__":
    sys.exit(main())
