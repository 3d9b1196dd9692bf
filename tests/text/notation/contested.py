"""Contested games of every kind, and the places where a text can be cut."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from referee.games import table_rules
from referee.games.game import Ending
from referee.games.results import Contest, Result
from referee.text.notation.headers import Setup
from tests.games.rulings import play
from tests.text.notation.setups import PLAIN

GAMES = [("alhambra", 2), ("alhambra", 4), ("kingdomino", 2), ("kingdomino", 3), ("rollwrite", 1), ("rollwrite", 3)]


@cache
def contested(rules_id: str, seats: int, seed: int) -> tuple[Setup, tuple[Any, ...]]:
    """Return a game in which illegal moves stand, so far as its rules let them."""
    setup = replace(next(each for each in PLAIN if each.rules_id == rules_id), seats=seats)
    hits: Counter[str] = Counter()
    events: list[Any] = []

    def follow(_: Any, event: Any) -> None:
        events.append(event)

    while not hits:
        events.clear()
        seed += 100
        play(rules_id, seats, random.Random(f"{rules_id} {seats} {seed}"), hits, setup.options, follow)
    return setup, tuple(events)


def states(setup: Setup, events: tuple[Any, ...]) -> Iterator[Any]:
    state: Any = setup.start()
    for event in events:
        yield state
        state.apply(event)
    yield state


@st.composite
def contests(draw: st.DrawFn, seats: int, *, over: bool) -> Contest:
    """Any that a log can have: with an end without a result, or a ruling that is not what it ended with anyway."""
    gone = draw(st.lists(st.sampled_from(range(seats)), unique=True, max_size=seats))
    out = {seat: draw(st.sampled_from(table_rules.ENDINGS)) for seat in gone}
    points_off = draw(st.one_of(st.just(()), st.tuples(*[st.integers(0, 30)] * seats)))
    played = Contest(out, points_off if any(points_off) else ())
    scores = draw(st.one_of(st.just(()), st.tuples(*[st.integers(-200, 200)] * seats)))
    ranks = draw(st.lists(st.integers(1, 3), min_size=seats, max_size=seats))
    places = tuple(1 + sum(other < own for other in ranks) for own in ranks)
    endings = [Ending.VOIDED, Ending.ABORTED, Ending.REFEREE_FAULT]
    endings += [Ending.STALLED] if not over and not table_rules.is_decided(seats, gone) else []
    ruled = draw(
        st.one_of(
            st.none(),
            st.sampled_from(endings).map(Result),
            st.just(Result(Ending.ADJUDICATED, scores, places)),
        )
    )
    return replace(played, ruled=ruled)


@cache
def at(rules_id: str, seats: int, share: int) -> tuple[Setup, tuple[Any, ...], Any]:
    """Return a game up to a share of its events, of eight; and the position."""
    setup, events = contested(rules_id, seats, 1)
    events = events[: len(events) * share // 8]
    *_, last = states(setup, events)
    return setup, events, last
