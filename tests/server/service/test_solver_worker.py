"""A worker's answers about a position as text: boards with accepted moves, forfeits and penalties in its headers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from referee.games.game import Ending
from referee.games.results import Contest, Result
from referee.server.service.solver_worker import answers
from referee.text.notation.game_text import GameText
from referee.text.notation.position_text import Position, write
from referee.text.report.sheet import replay
from referee.v1 import solver_service_pb2 as pb
from tests.text.notation.contested import contested

BUDGET = pb.Budget(rlimit=1000)


def position(contest: Contest | None = None, *, left: int = 6) -> str:
    """Return a position of Kingdomino, three seats, something illegal on the boards, near the end."""
    setup, events = contested("kingdomino", 3, 0)
    state, _ = replay(GameText(setup, events[:-left]))
    text = write(Position(setup, state, contest or Contest()))
    assert " against KDO-14" in text
    return text


def decided(text: str, out: Sequence[int] = (), points_off: Sequence[int] = ()) -> pb.ProveDecidedResponse:
    request = pb.ProveDecidedRequest(position=text, budget=BUDGET, out=out, points_off=points_off)
    (answer,) = answers("ProveDecided", request.SerializeToString(), 60.0)
    return pb.ProveDecidedResponse.FromString(answer or b"")


def test_headers_say_what_the_fields_say() -> None:
    plain = decided(position())
    assert len(plain.gaps) == 2
    out, points_off = [1], [0, 9, 300]
    for contest in (Contest({1: Ending.FLAG}), Contest({}, (0, 9, 300))):
        fields = (out, ()) if contest.out else ((), points_off)
        told = decided(position(contest))
        assert told == decided(position(), *fields) == decided(position(contest), *fields)
        assert told != plain


def test_what_contradicts_the_headers_and_what_has_ended_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^out: 2; expected 1, as the position says$"):
        decided(position(Contest({1: Ending.FLAG})), out=[2])
    with pytest.raises(ValueError, match=r"^points_off: 1 0 0; expected 0 9 0, as the position says$"):
        decided(position(Contest({}, (0, 9, 0))), points_off=[1, 0, 0])
    for contest, words in (
        (Contest({1: Ending.FLAG, 0: Ending.RESIGNED}), "player 3 wins: player 2 ran out of time, player 1 resigned"),
        (Contest(ruled=Result(Ending.VOIDED)), "no result: an arbiter voided the game"),
    ):
        with pytest.raises(ValueError, match=f"^position: {words}; expected a game in play$"):
            decided(position(contest))
