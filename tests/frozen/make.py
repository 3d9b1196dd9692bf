"""Writes the frozen logs: once for a version of the format or of the rules, never again for the same one.

``python -m tests.frozen.make`` refuses to touch a file that is there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.games.alhambra.moves import TakeMoney
from referee.log import intent
from referee.log.errors import RulesError
from referee.log.intent import Author, Role
from tests.frozen.report import report_of
from tests.log.alhambra import CODEC, TABLES, alhambra, at_random
from tests.log.games import SIGNER, Played, abort, join_and_reveal, play, seat_key, step

HERE = Path(__file__).parent


def with_refused_attempts(played: Played) -> Played:
    """In every third turn the seat tries what it may not: money that does not lie there."""
    join_and_reveal(played)
    record, choose = played.record, at_random(11)
    for number in range(100_000):
        state: Any = record.course.state
        if number % 3 == 0 and state.phase.name == "ACTION":
            missing = next(kind for kind in range(36) if kind not in state.row)
            data = CODEC.encode_move(TakeMoney((missing,)), TABLES)
            signed = intent.move(record.place, Author(Role.SEAT, state.seat), seat_key(state.seat), data)
            with pytest.raises(RulesError) as refused:
                record.check(signed)
            played.keep(record.refuse(signed, refused.value, played.clock()))
        if not step(played, choose):
            return played
    raise AssertionError("the game does not end")


def games() -> dict[str, Played]:
    """Every kind of log that this version writes."""
    aborted = alhambra(seats=2)
    return {
        "alhambra-1-dealt-3": play(alhambra(seats=3), at_random(7)),
        "alhambra-1-dealt-2-attempts": with_refused_attempts(alhambra(seats=2, recorded=True)),
        "alhambra-1-declared-6": play(alhambra(seats=6, dealt=False, scribed=(0, 1, 2, 3, 4, 5)), at_random(8)),
        "alhambra-1-dealt-4-scribed": play(alhambra(seats=4, scribed=(1, 2)), at_random(9)),
        "alhambra-1-aborted": abort(aborted),
    }


def main() -> None:
    """Writes what is missing."""
    (HERE / "referee.vkey").write_text(f"{SIGNER.verifier}\n")
    for name, played in games().items():
        log = HERE / f"{name}.gamelog"
        if log.exists():
            print(f"{log.name} is frozen")
            continue
        log.write_bytes(played.file())
        log.with_suffix(".json").write_text(report_of(log))
        print(f"wrote {log.name}, {len(played.entries)} entries, {log.stat().st_size} bytes")


if __name__ == "__main__":
    main()
