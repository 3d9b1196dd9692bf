"""``make soak``: a club plays for an hour, and the referee holds no more at the end than after its first minutes."""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from pathlib import Path
from tempfile import mkdtemp

from tests.soak.soak import Soak


def main() -> int:
    """0 if nothing was lost and nothing grew."""
    arguments = argparse.ArgumentParser(prog="make soak", description=__doc__)
    arguments.add_argument("--seconds", type=float, default=3600, help="how long (default: 3600)")
    arguments.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="default: another each time")
    chosen = arguments.parse_args()
    soak = Soak(Path(mkdtemp(prefix="soak-")), chosen.seed, chosen.seconds)
    print(f"{chosen.seconds:.0f} s, seed {chosen.seed}, in {soak.folder}", flush=True)
    asyncio.run(soak.run())
    print(soak.report())
    return int(any(finding.is_broken for finding in soak.findings()))


if __name__ == "__main__":
    sys.exit(main())
