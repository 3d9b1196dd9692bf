"""The table of protections, and what to patch them away with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from referee.log.errors import Code, LogError
from referee.log.findings import Findings

Patch = pytest.MonkeyPatch
PROTECTIONS: dict[str, Callable[[Patch], None]] = {}
"""By name, with what takes it away."""


class _Anything:
    """Equal to everything: a comparison with it always holds."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


ANYTHING: Any = _Anything()


def nothing(*given: Any, **named: Any) -> None:
    """In place of a check that raises."""


def protection(remove: Callable[[Patch], None]) -> None:
    """Takes a function in; its name is that of the protection, its docstring says what it is."""
    PROTECTIONS[remove.__name__.replace("_", " ")] = remove


def overlooked(patch: Patch, code: Code) -> None:
    """Findings with this code are not made."""
    tell = Findings.note

    def silent(findings: Findings, error: LogError, *layer: Any) -> None:
        if error.code is not code:
            tell(findings, error, *layer)

    patch.setattr(Findings, "note", silent)
