"""What a solver found out about a claim, whatever the game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from referee.games.game import Violation


@dataclass(frozen=True, slots=True)
class SmtFile:
    """A question as SMT-LIB 2 text, and what every correct solver answers: "sat" or "unsat"."""

    name: str
    text: str
    expected: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found out about a claim."""

    claim: Any
    """One of the game's ``claims``."""
    holds: bool | None
    """None: the budget ran out first."""
    violations: tuple[Violation, ...] = ()
    """Every rule that is broken."""
    core: tuple[str, ...] = ()
    """A minimal set of instances of one broken rule that contradict the claim: rule id and cell each."""
    certificate: bytes = b""
    """Empty if undecided."""
    smt_lib: tuple[SmtFile, ...] = ()
    counterexample: Any = None
    """The first placement that is legal, if it was claimed that there is none."""
