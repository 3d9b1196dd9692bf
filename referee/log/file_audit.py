"""The audit of one game file of many: a line that ``json`` can write, as the workers of a bulk run send it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import file_digest
from io import BytesIO
from typing import Any, BinaryIO, Final

from referee.log.audit import audit
from referee.log.file import regular
from referee.log.verdict import Policy, Report
from referee.process.bulk.results import LOST

UNREADABLE: Final = "UNREADABLE"
"""The word in place of a verdict: the file could not be audited."""


@dataclass(frozen=True, slots=True)
class Question:
    """A file, and the keys that its reader trusts."""

    name: str
    """The name that the reader uses for the file."""
    path: str
    policy: Policy
    data: bytes | None = None
    """The content of the file, if the path leads nowhere."""
    auditor: Callable[[BinaryIO, Policy], Report] = audit
    about: dict[str, Any] = field(default_factory=dict)
    """The reader's additions to the line: everything else that the verdict rests on."""


def audited(question: Question) -> dict[str, Any]:
    """Audit the file. Nothing that it holds raises anything but ``MemoryError``.

    ``verdict`` and ``problem`` are always there; ``problem`` is the reason for the verdict in words, or empty. With a
    verdict there are also ``size``, ``sha256`` and the fields of ``Report.as_json``.
    """
    try:
        with _opened(question) as stream:
            about = _about(stream)
            digest = file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]
            stream.seek(0)
            report = question.auditor(stream, question.policy)
            if _about(stream) != about:
                return unreadable("it changed while it was audited")
    except OSError as error:
        return unreadable(str(error.strerror))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - one file of a million must not end the run
        return unreadable(f"the audit failed ({type(error).__name__}: {error}); this is a bug, please report it")
    size, _ = about
    return {
        "size": size,
        "sha256": digest,
        **json.loads(report.as_json()),
        "problem": str(report.decisive or ""),
    }


def unreadable(problem: str, why: str = "file") -> dict[str, Any]:
    """Return the line of a file that could not be audited, which is tried again when the run is resumed."""
    return {"verdict": UNREADABLE, "problem": problem, LOST: why}


def _opened(question: Question) -> AbstractContextManager[BinaryIO]:
    if question.data is not None:
        return BytesIO(question.data)
    return regular(question.path)


def _about(stream: BinaryIO) -> tuple[int, int]:
    """Return size and time of the newest change, which show that a file is still the same."""
    if isinstance(stream, BytesIO):
        return stream.getbuffer().nbytes, 0
    found = os.fstat(stream.fileno())
    return found.st_size, found.st_mtime_ns
