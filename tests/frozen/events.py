"""Writes the frozen event files: once for a version of the format or of the rules, never again for the same one.

``python -m tests.frozen.events`` refuses to touch a file that is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from referee.log.note import VerifierKey
from referee.log.verdict import Policy
from referee.tournament.check import check_event
from referee.tournament.file import EventFile
from referee.tournament.log import EventLog
from referee.tournament.organiser import advance, close, draw, given, plan, proposal
from referee.tournament.rules.acts import (
    Act,
    Amend,
    Award,
    CheckIn,
    Enter,
    EnterResult,
    Expel,
    Forbid,
    Publish,
    Reopen,
    Result,
    Void,
)  # fmt: skip
from referee.tournament.rules.scoring import standings, standings_text
from referee.tournament.simulate import Chances, Simulation
from tests.frozen.report import HERE
from tests.log.games import SIGNER, key
from tests.tournament.rules.stages import SEED, terms

OFTEN: Final = Chances(absent=0.05, late=0.1, withdraw=0.05, no_show=0.05, forfeit=0.1, amend=0.2)
THREES: Final[dict[str, Any]] = {"sizes": (3, 2), "points": ((3, 1, 0), (3, 0))}


def _simulated(players: int, rng_seed: int, chances: Chances = OFTEN, **others: Any) -> EventLog:
    log = EventLog.new(terms(**others), key("organiser"))
    Simulation(log, SEED, players, chances, rng_seed).run()
    return log


def _begun(players: int, before: tuple[Act, ...] = (), **others: Any) -> EventLog:
    log = EventLog.new(terms(**others), key("organiser"))
    for number in range(1, players + 1):
        log.enter(Enter(number))
        log.enter(CheckIn(number))
    for act in before:
        log.enter(act)
    draw(log, SEED, {})
    return log


def _played(log: EventLog) -> None:
    """The newest round, in which player 1 wins everywhere, is published and played."""
    round_ = log.state.rounds[-1]
    log.enter(Publish(round_.number))
    for number, table in enumerate(round_.tables, 1):
        log.enter(EnterResult(round_.number, number, Result(tuple(range(1, len(table) + 1)))))
    advance(log)


def _planned() -> EventLog:
    """All rounds are planned; a player who leaves makes the last one Swiss."""
    log = _begun(12, rounds=3, **THREES)
    plan(log, 3)
    for _ in range(3):
        log.enter(proposal(log.state))
        _played(log)
    close(log)
    return log


def _by_others() -> EventLog:
    """A round by another program, one by hand that is paired again, and what an arbiter rules."""
    log = _begun(8, (Forbid(1, 2), Forbid(3, 4, hard=True)), rounds=3)
    first = proposal(log.state)
    log.enter(given(log.state, first.tables[::-1], first.byes, "a program of the club", "pairer 3"))
    _played(log)
    log.enter(Amend(1, 1, Result((2, 1, 3, 4)), "the sheet was read wrongly"))
    second = proposal(log.state)
    log.enter(given(log.state, second.tables[::-1], second.byes, "two share a car"))
    log.enter(Publish(2))
    log.enter(Reopen(2, "two have left"))
    log.enter(Expel(8, "abuse"))
    log.enter(proposal(log.state))
    log.enter(Publish(2))
    log.enter(Void(2, 1, "the table was not played"))
    log.enter(Award(2, log.state.rounds[1].tables[0][0], 150, "the table was not played"))
    log.enter(EnterResult(2, 2, Result((1, 1, 3), (40, 40, 12), (2,))))
    advance(log)
    log.enter(proposal(log.state))
    _played(log)
    close(log)
    return log


EVENTS: Final[dict[str, Callable[[], EventLog]]] = {
    "event-1-swiss": lambda: _simulated(18, 3, rounds=5, late_until=4, late_points=30, bye_points=60),
    "event-1-planned": _planned,
    "event-1-knock-out": lambda: _simulated(11, 5, rounds=2, cut=4, cut_size=2, cut_advance=1),
    "event-1-by-others": _by_others,
    "event-1-byes": lambda: _simulated(7, 2, rounds=4, sizes=(3,), points=((4, 2, 0),), bye_points=120),
}
"""Every kind of event that this version writes."""


def verdict_of(path: Path) -> dict[str, Any]:
    """Return the check's lasting report on a frozen event, and the event's end."""
    verifier = VerifierKey.parse((HERE / "referee.vkey").read_text().strip())
    report = json.loads(check_event(path, Policy(verifier), None, Policy()).as_json())
    del report["audit"]["comments"]
    state = EventFile.read_only(path).log.state
    rounds = [
        {"tables": [*map(list, each.tables)], "byes": [*each.byes], "vector": [*each.vector], "bound": each.bound}
        for each in state.rounds
    ]
    standing = standings_text(standings(state)).splitlines()
    return {"check": report, "rounds": rounds, "standings": standing, "digest": state.digest().hex()}


def main() -> None:
    """Write what is missing."""
    for name, make in EVENTS.items():
        path = HERE / f"{name}.eventlog"
        if path.exists():
            print(f"{path.name} is frozen")
            continue
        log = make()
        path.write_bytes(log.file(SIGNER))
        path.with_suffix(".json").write_text(json.dumps(verdict_of(path), indent=1) + "\n")
        print(f"wrote {path.name}, {len(log.entries)} entries, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
