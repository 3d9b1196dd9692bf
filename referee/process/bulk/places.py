"""The places where a bulk run can happen: this machine, or a cluster of Dask's."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from referee.process.bulk import isolated
from referee.process.bulk.results import BadOption, PlaceLost
from referee.process.bulk.run import Place

SCHEME: Final = "dask://"
_CONNECT_S: Final = 10
_PART_S: Final = 2.0
"""The length of a part there, where handing one out costs some 11 ms."""
_PART_HERE_S: Final = 0.25
"""The length of a part here, where handing one out costs a millisecond, or more under load. A killed run loses its
parts."""


class _Inline(Executor):
    """Does everything at once, in the thread that asks: a debugger and ``print`` work."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@contextmanager
def inline() -> Iterator[Place]:
    """Yield this thread."""
    yield Place(_Inline(), lambda: 1)


@contextmanager
def here(jobs: int) -> Iterator[Place]:
    """Yield this machine, which does ``jobs`` tasks at one time. On exit no process of it is left."""
    keeper = isolated.Keeper()
    threads = ThreadPoolExecutor(jobs, "bulk", isolated.give, (keeper,))
    try:
        yield Place(threads, lambda: jobs, _PART_HERE_S)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        keeper.stop()
        threads.shutdown()


@contextmanager
def place(address: str | None, jobs: int) -> Iterator[Place]:
    """Yield where ``--on`` says; without it this machine. Raise ``BadOption``, ``PlaceLost``."""
    with here(jobs) if address is None else dask(address) as found:
        yield found


@contextmanager
def dask(address: str) -> Iterator[Place]:
    """Yield the cluster whose scheduler has the address ``dask://HOST:PORT``. Raise ``BadOption``, ``PlaceLost``."""
    if not re.fullmatch(r"dask://[^/\s]+:\d{1,5}", address):
        raise BadOption(f"--on {address[:60]!r}; expected dask://HOST:PORT, of a Dask scheduler")
    if find_spec("distributed") is None:
        raise BadOption("--on: Dask is not installed here; expected pip install 'tile-referee[cluster]' before")
    distributed = import_module("distributed")  # an extra; it takes a second
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # an error is reported in one line
    try:
        client = distributed.Client(address.replace(SCHEME, "tcp://", 1), timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PlaceLost(f"--on {address}: no scheduler of Dask answers there") from error
    with client:
        # Each part is a call of its own: Dask would give the result of an equal one, also that it was lost.
        yield Place(client.get_executor(pure=False, retries=0), lambda: sum(client.nthreads().values()), _PART_S)
