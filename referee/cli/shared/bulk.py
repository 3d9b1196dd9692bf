"""How commands with a bulk run fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.process.bulk.errors import BadOption, BulkError, TooManyLost


@contextmanager
def telling(noun: str) -> Iterator[None]:
    """Raise ``Failure`` for what ends a run before its time. ``noun``: what a task is."""
    try:
        yield
    except TooManyLost as error:
        what = f"{error.lost} {noun}s could not be done, where at most {error.most} may be lost"
        raise Failure(f"stopped: {what}; the last one: {error.last}. Look at the machine, not at the {noun}s") from None
    except BadOption as error:
        raise Failure(str(error), EXIT_USAGE) from None
    except BulkError as error:
        raise Failure(str(error)) from None
