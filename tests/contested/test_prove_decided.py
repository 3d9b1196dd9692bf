"""``referee prove-decided`` on contested games: whatever has come of a game, that is what it says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from referee.games.game import Ending
from referee.games.results import Result
from tests.cli.inside import referee
from tests.contested.campaign import IN_THIRDS, games_of
from tests.contested.games import Contested, kept
from tests.sizes import Part, in_parts

EACH = pytest.mark.parametrize("rules_id", ["alhambra", "kingdomino"])
DECIDED, OPEN = 0, 11
"""Exit codes."""


def answer(folder: Path, made: Contested, at: int) -> tuple[CompletedProcess[str], dict[str, Any]]:
    path = folder / "game.gamelog"
    path.write_bytes(made.data)
    done = referee("prove-decided", path, "--at", at, "--rlimit", 2000, "--json")
    return done, json.loads(done.stdout) if done.stdout else {}


def ends(made: Contested) -> list[int]:
    """Return entries after which the game has come to another result than before, and the last, if it has one."""
    results = [truth.result for truth in made.truth]
    found = [at for at, (before, now) in enumerate(pairwise(results), 1) if now is not None and now != before]
    return sorted({*found, *([len(results) - 1] if results[-1] is not None else [])})


@IN_THIRDS
@EACH
def test_what_a_game_has_come_to_is_said(tmp_path: Path, rules_id: str, part: Part) -> None:
    """By its rules, by forfeits, by a ruling or without a result, entered or not; nothing is proved."""
    wrong = []
    for made in games_of(part, rules_id):
        for at in ends(made):
            done, found = answer(tmp_path, made, at)
            result = made.truth[at].result
            assert result is not None
            said = found.get("winners"), found.get("places") or [], bool(found.get("decided"))
            expected = list(result.winners), list(result.places), False
            if said != expected or done.returncode != (DECIDED if len(result.winners) == 1 else OPEN):
                wrong.append(
                    f"{made}, after entry {at}: {result}; exit code {done.returncode}: {done.stderr or done.stdout}"
                )
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong)


@in_parts(6)
@EACH
def test_nothing_is_proved_that_does_not_come(tmp_path: Path, rules_id: str, part: Part) -> None:
    """During a game: a seat that has forfeited has not won, and a proof holds if only moves follow to the end."""
    wrong = []
    for number in part.of(range(6)):
        made = kept(rules_id, number)
        going_on = [at for at, truth in enumerate(made.truth) if truth.result is None and len(truth.events) > 4]
        for at in {going_on[-1] if made.number % 2 else going_on[2 * len(going_on) // 3]} if going_on else ():
            done, found = answer(tmp_path, made, at)
            leader = found.get("leader")
            is_out = leader in dict(made.truth[at].out)
            end = by_moves_alone(made, at) if found.get("decided") else None
            if leader is None or is_out or (end is not None and end.winners != (leader,)):
                wrong.append(
                    f"{made}, after entry {at}: {end}; exit code {done.returncode}: {done.stderr or done.stdout}"
                )
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong)


def by_moves_alone(made: Contested, at: int) -> Result | None:
    """Return the result of the game, if only moves followed."""
    now, last = made.truth[at], made.truth[-1]
    is_plain = (last.out, last.points_off, last.events[: len(now.events)]) == (now.out, now.points_off, now.events)
    return last.result if is_plain and last.result is not None and last.result.ending is Ending.RULES else None
