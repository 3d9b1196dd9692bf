"""Directories of several referees on one PostgreSQL database."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from referee.log.v1 import log_pb2
from referee.server.service.data import found_cluster

OF_A_NODE = ("lock", "alive", "address", "marks.db*", "cluster.mark")
"""The files of a directory that belong to one node."""


async def directories(url: str | None, *paths: Path) -> None:
    """Make the first one a cluster's, and the others of the same cluster; only the first has the organiser's token."""
    await asyncio.to_thread(found_cluster, paths[0], url)
    for path in paths[1:]:
        shutil.copytree(paths[0], path, ignore=shutil.ignore_patterns(*OF_A_NODE, "organiser.token"))


CLOCKS = log_pb2.Terms(
    clock=log_pb2.ClockTerms(increment=log_pb2.Increment(base_ms=600_000, increment_ms=1_000)), grace_ms=0
)
"""With these a take-over is entered at once, whether the seats are back or not."""
