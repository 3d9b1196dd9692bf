"""``python -m tests.rig``: as many games as wanted; ``--seed N`` alone repeats the one game that failed."""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter
from cyclopts.validators import Number

from tests.rig.referee import Referee, running
from tests.rig.run import each, rig


def main(
    *,
    seed: Annotated[
        int, Parameter(help="Of the first game; those that follow have the next ones.", validator=Number(gte=0))
    ] = 1,
    games: Annotated[int, Parameter(help="How many.", validator=Number(gte=1))] = 1,
    at_once: Annotated[int, Parameter(help="So many at a time.", validator=Number(gte=1))] = 32,
    gap: Annotated[
        int, Parameter(help="About one message of so many suffers something.", validator=Number(gte=2))
    ] = 20,
) -> None:
    """Play whole games through broken networks and check clients' messages. Exit code 1: a finding."""
    # gRPC logs every message that it cannot read; here that is most of the log.
    logging.getLogger("grpc").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as referee:
        failed = asyncio.run(_play(referee, range(seed, seed + games), at_once, gap))
    raise SystemExit(1 if failed else 0)


async def _play(referee: Referee, seeds: range, at_once: int, gap: int) -> int:
    failed, began = 0, time.monotonic()
    totals = dict.fromkeys(("entries", "faults", "reconnects"), 0)
    async with rig(referee) as rigged:
        async for report in each([partial(rigged.seeded, seed, gap) for seed in seeds], at_once):
            for what in totals:
                totals[what] += getattr(report, what)
            if report.findings:
                failed += 1
                again = f"python -m tests.rig --seed {report.name} --gap {gap}"
                print(f"seed {report.name}: {len(report.findings)} findings; alone: {again}")
                for finding in report.findings:
                    print(f"    {finding}")
    seconds = time.monotonic() - began
    print(f"{len(seeds)} games, {', '.join(f'{count} {what}' for what, count in totals.items())}, {seconds:.0f} s")
    return failed


if __name__ == "__main__":
    cyclopts.run(main)
