"""The attacks that succeed when a protection is taken away."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import pytest

from referee.log.verdict import Report, Verdict
from tests.attacks.corpus import TABLES, game
from tests.attacks.everything import ATTACKS
from tests.attacks.forge import Forgery
from tests.attacks.protections import PROTECTIONS

# The smallest games, and the one in which no deck doubles what is looked at, first.
_ORDER = ["toy, declared", "toy, dealt", *TABLES]


@dataclass(frozen=True)
class Removal:
    """One protection taken away."""

    protection: str
    through: tuple[str, ...]
    """Attacks that are not noticed any more, or pass for a file that merely is not whole."""
    doubled: tuple[tuple[str, str], ...]
    """Attacks that another protection notices, and the layer that then decides."""

    def row(self) -> str:
        """Return its row of the table in docs/security.md."""
        doubled = [f"{attack} ({layer})" for attack, layer in self.doubled]
        what = (PROTECTIONS[self.protection].__doc__ or "").rstrip(".")
        return f"| {self.protection} | {what} | {', '.join(self.through) or 'nothing'} | {', '.join(doubled) or '-'} |"


@cache
def forgeries() -> dict[str, tuple[str, Forgery, tuple[object, ...]]]:
    """Return each attack once: on which game, the file, and what the whole auditor says."""
    found = {}
    for name, attack in ATTACKS.items():
        table, forgery = next((t, f) for t in _ORDER if (f := attack(t, game(t))) is not None)
        found[name] = (table, forgery, _told(forgery.audit(game(table))))
    return found


def _told(report: Report) -> tuple[object, ...]:
    finding = report.decisive
    return (finding and (finding.code, finding.entry, finding.what),)


def _weight(verdict: Verdict) -> int:
    """Nothing, a file that is not whole, or something wrong."""
    return {Verdict.COMPLETE: 0, Verdict.PREFIX: 1, Verdict.UNDISCLOSED: 1}.get(verdict, 2)


@contextmanager
def taken_away(protection: str) -> Iterator[None]:
    """Take the protection from the auditor, with nothing remembered from before; put it back in the end."""
    with pytest.MonkeyPatch.context() as patch:
        PROTECTIONS[protection](patch)
        _forget()
        yield
    _forget()


def _forget() -> None:
    # A weak key that was once accepted must not stay so.
    for name, module in list(sys.modules.items()):
        if name.startswith("referee.log"):
            for value in list(vars(module).values()):
                getattr(value, "cache_clear", lambda: None)()


def without(protection: str) -> Removal:
    """Every attack against the auditor without the protection."""
    through, doubled = [], []
    made = forgeries()
    with taken_away(protection):
        for name, (table, forgery, usual) in made.items():
            report = forgery.audit(game(table))
            if _weight(report.verdict) < _weight(forgery.verdict):
                through.append(name)
            elif _told(report) != usual:
                assert report.decisive is not None
                doubled.append((name, str(report.decisive.layer)))
    return Removal(protection, tuple(through), tuple(doubled))


def honest_games_broken(protection: str) -> list[str]:
    """Return the good games that fail without the protection: none, if only that is gone."""
    with taken_away(protection):
        # Without attempts, as these are judged by the rules and would be none without them.
        names = ["toy, declared", "alhambra, declared"]
        return [name for name in names if game(name).audit().verdict is not Verdict.COMPLETE]
