"""Why a round is paired as it is, in words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from referee.tournament.log import EventLog
from referee.tournament.names import Names
from referee.tournament.organiser import pair
from referee.tournament.rules import State
from referee.tournament.rules.acts import EnterResult, Forbid, Pair, Publish, Result
from referee.tournament.rules.quality import Vector
from referee.tournament.words import reasons
from tests.tournament.made import made
from tests.tournament.rules.stages import SEED


def rounds(log: EventLog, count: int) -> Iterator[tuple[State, Pair]]:
    """Pair and play ``count`` rounds, the lower number always first."""
    for _ in range(count):
        before, paired = pair(log, SEED)
        yield before, paired
        log.enter(Publish(paired.round))
        for number, table in enumerate(paired.tables, 1):
            places = tuple(1 + sum(other < who for other in table) for who in table)
            log.enter(EnterResult(paired.round, number, Result(places)))


def told(before: State, paired: Pair) -> dict[str, str]:
    return {what: " ".join(sentences) for what, sentences in reasons(before, paired, Names({}))}


@pytest.mark.parametrize("players", [9, 13, pytest.param(26, marks=pytest.mark.long)])
def test_what_the_vector_counts_is_told(players: int) -> None:
    """Each repeat, second short table and float is a sentence, and there are no others."""
    log = made(players)
    for before, paired in rounds(log, 4):
        vector, text = Vector(*paired.vector), " ".join(told(before, paired).values())
        assert text.count("stands between them") == vector.float - (0 if any(before.rounds) else vector.float)
        assert ("meet again" in text) == bool(vector.repeats)
        assert (" sat at a short table before." in text.replace("no one here sat at a short", "")) == bool(
            vector.second_shorts
        )


def test_a_bye_is_explained() -> None:
    log = made(5, sizes=(4,), points=((5, 3, 2, 1),))
    found = [told(*each)["Bye"] for each in rounds(log, 3)]
    assert all("no tables of these sizes hold all players, and this player had none before." in each for each in found)
    assert all(each.endswith("No player with as few byes stands lower.") for each in found)
    assert len({each.split(":")[0] for each in found}) == 3


def test_a_pairing_by_hand_says_so() -> None:
    log = made(8, sizes=(4,), points=((5, 3, 2, 1),))
    log.enter(Forbid(1, 2))
    list(rounds(log, 1))
    tables = ((1, 2, 3, 4), (5, 6, 7, 8))
    before, paired = pair(log, SEED, tables=tables, reason="they share a car")
    found = told(before, paired)
    assert found["The round"].startswith(
        "Paired by hand: they share a car. The program's own pairing has meetings again, squared: "
    )
    assert "1 and 2 should not meet." in found["Table 1"]
    assert "meet again: they met in round 1." in found["Table 1"]
