"""What a worker process does for ``referee.process.bulk``: call a function with one task after another."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from time import monotonic

READY = "ready"
"""Nothing is called: the function is there, with all that it imports."""
CALL = "call"


class Raised:
    """What a function raised, on its way to the process that asked for the call."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def answers(method: str, request: bytes, seconds: float) -> Iterator[bytes]:  # noqa: ARG001 - whoever asks kills it
    """Yield the pickled result of each task of a pickled request, as soon as it is there.

    After what a task raises, or when enough time has passed, nothing more is done.
    """
    if method == READY:
        pickle.loads(request)  # noqa: S301 - from the process that started this one
        return
    began = monotonic()
    function, tasks, enough_s = pickle.loads(request)  # noqa: S301 - from the process that started this one
    for task in tasks:
        try:
            result = function(task)
        except MemoryError:
            raise  # the worker says so, and ends
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised there
            yield _pickled(Raised(error))
            return
        yield _pickled(result)
        if monotonic() - began > enough_s:
            return


def _pickled(result: object) -> bytes:
    try:
        data = pickle.dumps(result)
        if isinstance(result, Raised):
            pickle.loads(data)  # noqa: S301 - some errors can be written and not read
    except Exception as error:  # noqa: BLE001 - of objects that cannot be sent
        what = result.error if isinstance(result, Raised) else error
        return pickle.dumps(Raised(RuntimeError(f"{type(what).__name__}: {what}")))
    return data
