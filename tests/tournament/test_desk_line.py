"""Any line typed at the desk means something, or is refused in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.games.game import InputError
from referee.log.errors import LogError
from referee.tournament import desk_line
from referee.tournament.desk_line import VERBS
from referee.tournament.file import EventFile, new_seed
from referee.tournament.organiser import enter_players, pair
from referee.tournament.rules import Terms
from referee.tournament.rules.acts import CheckIn, EnterResult, Publish, Result

WORDS = st.one_of(
    st.sampled_from(["1", "2", "3,1,2", "2 1 3", "0", "Anna", "ben", "all", "because", "so", "bye", "round", "table"]),
    st.sampled_from(["scores", "forfeited", ",", ";", "1,2,3;", "99999999999", "2.5", "5/3", "=", "1=00", "²", "-1"]),
    st.text(max_size=4),
)
LINES = st.builds(
    lambda verb, words: " ".join([verb, *words]),
    st.one_of(st.sampled_from([*VERBS]), WORDS),
    st.lists(WORDS, max_size=5),
)


@pytest.fixture
def event(tmp_path: Path) -> Iterator[EventFile]:
    """Six are there, a round is published, and one of its tables has a result."""
    seed, commitment = new_seed()
    path = tmp_path / "spring.eventlog"
    EventFile.create(path, Terms(sizes=(3,), points=((4, 2, 0),), rounds=2, commitment=commitment), seed)
    with EventFile.opened(path) as made:
        with made.entering():
            entrants = [("", name) for name in ("Anna", "Ben", "Cara", "Dan", "Eva", "Finn")]
            made.names, numbers = enter_players(made.log, made.names, entrants)
            for number in numbers:
                made.log.enter(CheckIn(number))
            pair(made.log, made.seed)
            made.log.enter(Publish(1))
            made.log.enter(EnterResult(1, 1, Result((1, 2, 3))))
        yield made


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(LINES)
def test_a_line_is_read_or_refused(event: EventFile, line: str) -> None:
    """A line listed as forbidden is refused, one listed as allowed is entered; then nothing stays."""
    before, size = event.log, event.log.record.size
    with suppress(InputError):
        meant = desk_line.read(event, line)
        why_not = meant.why_not(event)
        try:
            meant.enter(event)
        except (InputError, LogError):
            assert why_not or meant.act is None
        else:
            assert not why_not
    if event.log.record.size != size:  # most lines enter nothing, and to read the log again takes the longest
        event.log = before.up_to(size)
    event.names = event.names.of(event.log.state.entrants)
