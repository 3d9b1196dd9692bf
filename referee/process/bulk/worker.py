"""The worker's side of a bulk run: calls a function with one task after another. Results leave it as JSON.

The tasks are pickled by the process that started this one. Nothing goes back that way: the function may run code of
strangers, so the other side reads data only.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

READY: Final = "ready"
"""Nothing is called: the function is there, with all that it imports."""
CALL: Final = "call"
_MOST_WORDS: Final = 2000


@dataclass(frozen=True, slots=True)
class Raised:
    """An error that a function raised: the name of its class, and what it says."""

    name: str
    words: str

    @classmethod
    def of(cls, error: Exception) -> Raised:
        """Return the error in the form that is sent to another process."""
        words = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)
        return cls(type(error).__name__, words[:_MOST_WORDS])


def answers(method: str, request: bytes, seconds: float) -> Iterator[bytes]:  # noqa: ARG001 - the parent kills it
    """Yield the result of each task of a pickled request, as soon as it is there, with the task's place in the request.

    After an error of a task, or when enough time has passed, nothing more is done.
    """
    if method == READY:
        pickle.loads(request)  # noqa: S301 - from the process that started this one
        return
    began = monotonic()
    function, tasks, enough_s = pickle.loads(request)  # noqa: S301 - from the process that started this one
    for at, task in enumerate(tasks):
        try:
            result = function(task)
            data = json.dumps([at, result])
        except MemoryError:
            raise  # the worker says so, and ends
        except Exception as error:  # noqa: BLE001 - it is raised in the other process
            raised = Raised.of(error)
            yield json.dumps([at, raised.name, raised.words]).encode()
            return
        yield data.encode()
        if monotonic() - began > enough_s:
            return


def result_of(answer: bytes, at: int) -> Any | Raised:
    """Return the result of the task at this place, or the error that was raised instead. Raise ``ValueError`` if the
    answer is neither, or another task's.
    """
    match json.loads(answer):
        case [int(place), result] if place == at:
            return result
        case [int(place), str(name), str(words)] if place == at:
            return Raised(name, words)
    raise ValueError("no answer of a worker")
