"""Event files with something wrong in them, as an organiser's program that is wrong, or lies, would write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from referee.games.game import Violation
from referee.log.engines import installed
from referee.tournament.log import EventLog
from referee.tournament.rules import TOURNAMENT, State, Terms
from referee.tournament.rules.acts import Act, CloseRound, Pair
from referee.tournament.rules.quality import Pairing, bound, vector
from referee.tournament.rules.scoring import standings, standings_text
from referee.tournament.rules.situation import situation
from referee.tournament.simulate import Chances, Simulation
from tests.log.games import SIGNER, key
from tests.tournament.pairing.events import exchanged
from tests.tournament.rules.stages import SEED, terms

Fault = Callable[[State, Act], Act]
"""From what is right, and where, to what is entered instead."""


class Lenient(State):
    """An event that forgot all rules."""

    __slots__ = ()

    def check(self, event: Any) -> tuple[Violation, ...]:
        return ()


class LenientEvent:
    """The rules that go with it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(TOURNAMENT, name)

    def new(self, seats: int, options: Any, components: Terms) -> State:
        return Lenient(seats, components)


class Faulty(EventLog):
    """Enters one act otherwise than it should be."""

    fault: Fault
    when: Callable[[Act], bool]

    def enter(self, act: Act) -> None:
        super().enter(self.fault(self.state, act) if self.when(act) else act)


def event(fault: Fault, when: Callable[[Act], bool], players: int = 13, **others: Any) -> bytes:
    """Return the file of a simulated event in which the acts that ``when`` finds are other ones."""
    fixed = terms(**{"rounds": 3, **others})
    engines = replace(installed(), game=lambda rules_id, version: LenientEvent())
    log = Faulty.new(fixed, key("organiser"), engines)
    assert isinstance(log, Faulty)
    log.fault, log.when = fault, when
    Simulation(log, SEED, players, Chances(), 7).run()
    return log.file(SIGNER)


@cache
def right() -> bytes:
    """Return the file of the same event without a fault."""
    return event(lambda _, act: act, lambda _: True)


def is_pair(round_: int) -> Callable[[Act], bool]:
    return lambda act: isinstance(act, Pair) and act.round == round_


def is_close(round_: int) -> Callable[[Act], bool]:
    return lambda act: isinstance(act, CloseRound) and act.round == round_


def restated(state: State, act: Act, pairing: Pairing) -> Act:
    """Return the act with another pairing, and the figures that this has."""
    assert isinstance(act, Pair)
    before, sizes = situation(state), state.terms.sizes
    figures: dict[str, Any] = {
        "vector": tuple(vector(before, sizes, pairing)),
        "bound": bound(before, sizes, pairing.byes),
    }
    return replace(act, tables=pairing.tables, byes=pairing.byes, **figures)


def _exchanged(act: Act) -> Pairing:
    """Best and worst table have exchanged two players."""
    assert isinstance(act, Pair)
    return exchanged(Pairing(act.tables, act.byes), act.tables[0][0], act.tables[-1][-1])


def swapped(state: State, act: Act) -> Act:
    return restated(state, act, _exchanged(act))


def swapped_in_secret(state: State, act: Act) -> Act:
    assert isinstance(act, Pair)
    return replace(act, tables=_exchanged(act).tables)


def dropped(state: State, act: Act) -> Act:
    assert isinstance(act, Pair)
    first, *others = act.tables
    return replace(act, tables=(first[1:], *others))


def second_bye(state: State, act: Act) -> Act:
    assert isinstance(act, Pair)
    (had,) = state.rounds[0].byes
    return restated(state, act, exchanged(Pairing(act.tables, act.byes), had, act.byes[0]))


def other_vector(state: State, act: Act) -> Act:
    assert isinstance(act, Pair)
    return replace(act, vector=(*act.vector[:3], act.vector[3] + 1, *act.vector[4:]))


def other_seats(state: State, act: Act) -> Act:
    assert isinstance(act, Pair)
    seated = {who: table.index(who) for table in state.rounds[0].tables for who in table}
    tables = tuple(tuple(sorted(table, key=lambda who: seated[who])) for table in act.tables)
    return restated(state, act, Pairing(tables, act.byes))


def other_fraction(state: State, act: Act) -> Act:
    assert isinstance(act, CloseRound)
    first, *rest = standings(state)
    wrong = replace(first, tie_breaks=(first.tie_breaks[0] + Fraction(1, 1_000_000), *first.tie_breaks[1:]))
    return replace(act, standings=sha256(standings_text([wrong, *rest]).encode()).digest())


@dataclass(frozen=True)
class Planted:
    """A fault, where it is, and the rule that it breaks."""

    fault: Fault
    when: Callable[[Act], bool]
    rule: str
    others: Mapping[str, Any] = field(default_factory=dict)
    """Other terms of the event."""

    @cached_property
    def data(self) -> bytes:
        """The file: to simulate an event takes longer than anything that is asked of it."""
        return event(self.fault, self.when, **self.others)

    def file(self, folder: Path) -> Path:
        path = folder / "faulty.eventlog"
        path.write_bytes(self.data)
        return path


TWO: Mapping[str, Any] = {"rounds": 2}
FOURS: Mapping[str, Any] = {"sizes": (4,), "points": ((5, 3, 2, 1),), "players": 13}
PLANTED = {
    "two-players-swapped": Planted(swapped, is_pair(2), "EVT-P8", TWO),
    "swapped-in-secret": Planted(swapped_in_secret, is_pair(2), "EVT-P6", TWO),
    "a-player-dropped": Planted(dropped, is_pair(2), "EVT-P1", TWO),
    "a-second-bye": Planted(second_bye, is_pair(2), "EVT-B1", FOURS),
    "a-wrong-vector": Planted(other_vector, is_pair(3), "EVT-P6"),
    "the-seats-of-before": Planted(other_seats, is_pair(2), "EVT-O1", TWO),
    "a-wrong-fraction": Planted(other_fraction, is_close(2), "EVT-S14"),
}
