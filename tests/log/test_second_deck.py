"""The decks of Kingdomino and Roll & Write read without any of our code, from what the documents say of the labels."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games.kingdomino import Options
from referee.games.kingdomino.options import Draw
from tests.log import second
from tests.log.games import SIGNER, play
from tests.log.registered import at_random, codec, opened


def read(rules_id: str, **kind: Any) -> tuple[bytes, list[dict[int, list[Any]]]]:
    """K and the fields of every outcome."""
    played = play(opened(rules_id, **kind), at_random(3))
    verifier = second.Verifier(played.file(), str(SIGNER.verifier))
    assert verifier.deck is not None
    return verifier.deck, [second.fields(outcome) for outcome in verifier.outcomes]


def numbers(packed: bytes) -> list[int]:
    """Return a packed field of small numbers."""
    assert all(byte < 128 for byte in packed)
    return list(packed)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_lines_of_dominoes(seats: int) -> None:
    deck, outcomes = read("kingdomino", seats=seats)
    size = 3 if seats == 3 else 4
    order = [index + 1 for index in second.permutation(deck, "shuffle/dominoes/0", 48)]
    first, *lines = outcomes
    start = second.uniform(second.stream(deck, "first/seat"), seats)
    kings = [(start + turn) % seats for turn in range(seats)] * (2 if seats == 2 else 1)
    assert numbers(second.fields(first[1][0])[1][0]) == kings
    assert len(lines) == (6 if seats == 2 else 12)
    for number, line in enumerate(lines):
        drawn = order[number * size : (number + 1) * size]
        assert numbers(second.fields(line[2][0])[1][0]) == sorted(drawn)


def test_kings_drawn_one_by_one() -> None:
    options = codec("kingdomino").encode_options(Options(first_order=Draw.KINGS))
    deck, outcomes = read("kingdomino", options=options)
    kings = [(0, 0, 1, 1)[index] for index in second.permutation(deck, "first/kings", 4)]
    assert numbers(second.fields(outcomes[0][1][0])[1][0]) == kings


@pytest.mark.parametrize("seats", [1, 2, 5])
def test_dice(seats: int) -> None:
    """Every roll of the game, in its order, those rolled again among them."""
    deck, outcomes = read("rollwrite", seats=seats)
    if seats > 1:
        start = second.fields(outcomes[0][1][0])[1][0]
        assert start == second.uniform(second.stream(deck, "start"), seats)
        outcomes = outcomes[1:]
    rolls = []
    for outcome in outcomes:
        ((kind, (body,)),) = outcome.items()
        rolls += [second.fields(roll) for roll in second.fields(body)[1 if kind == 4 else 2]]
    assert len(rolls) > 60
    for number, roll in enumerate(rolls):
        blue, yellow = (
            second.uniform(second.stream(deck, f"dice/{number}/{colour}"), 6) + 1 for colour in ("blue", "yellow")
        )
        assert (roll[1], roll[2]) == ([blue], [yellow]), number
