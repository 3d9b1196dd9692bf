"""Scoring, hand-out and start seat against the oracle, on random tables with many ties."""

from __future__ import annotations

import random

from referee.games.alhambra.money import CURRENCIES, KINDS, VALUES, card_name
from referee.games.alhambra.position import FREE, Phase
from referee.games.alhambra.scoring import NEUTRAL, award_type, score_round
from referee.games.alhambra.tiles import tiles_of
from tests.games import oracle
from tests.games.positions import TILE_SET, counts, position
from tests.games.slow_alhambra import card


def test_rounds_are_scored_like_the_tables_say() -> None:
    rng = random.Random(1)
    for _ in range(1_200):
        seats = rng.randint(2, 6)
        most = rng.choice((1, 2, 3, 11))
        owned = [[rng.randint(0, most) for _ in range(6)] for _ in range(seats)]
        neutral = [rng.randint(0, most) for _ in range(6)] if seats == 2 else [0] * 6
        walls = [rng.randint(0, 20) for _ in range(seats)]
        names = [[f"{oracle.TYPES[t]}-9" for t in range(6) for _ in range(own[t])] for own in (*owned, neutral)]
        for round_ in (1, 2, 3):
            wanted = oracle.round_points(round_, names[:-1], walls, names[-1])
            points, lines = score_round(round_, owned, walls, neutral if seats == 2 else None)
            assert points == wanted, (round_, owned, neutral)
            given = [sum(line.each for line in lines if seat in line.players) for seat in range(seats)]
            assert [own + wall for own, wall in zip(given, walls, strict=True)] == points


def test_lines_say_who_shares_which_places() -> None:
    rng = random.Random(2)
    for _ in range(500):
        owned, neutral = [rng.randint(0, 3) for _ in range(rng.randint(2, 6))], rng.randint(0, 3)
        everybody = {seat: own for seat, own in enumerate(owned) if own} | ({NEUTRAL: neutral} if neutral else {})
        for round_ in (1, 2, 3):
            lines = award_type(round_, 3, owned, neutral)
            for line in lines:
                assert len({everybody[player] for player in line.players}) == 1
                ahead = [player for player in everybody if everybody[player] > everybody[line.players[0]]]
                assert line.place == len(ahead) + 1 <= round_
                assert set(line.players) == {p for p in everybody if everybody[p] == everybody[line.players[0]]}
            listed = [player for line in lines for player in line.players]
            assert len(listed) == len(set(listed)) >= min(round_, len(everybody))


def random_hands(rng: random.Random, seats: int) -> list[list[str]]:
    """Few kinds of card, so that sums are often equal."""
    kinds = rng.sample(range(KINDS), rng.randint(1, 8))
    return [[card_name(rng.choice(kinds)) for _ in range(rng.randint(0, 5))] for _ in range(seats)]


def test_tiles_left_are_handed_out_like_the_rule_texts_say() -> None:
    rng = random.Random(3)
    for _ in range(500):
        seats = rng.randint(2, 6)
        hands = random_hands(rng, seats)
        market = [name if rng.random() < 0.8 else "" for name in rng.sample(TILE_SET.names, 4)]
        state = position(seats, market=market, bag=[], phase=Phase.REFILL, deck=[])
        state.hands = [counts(hand) for hand in hands]
        left = {oracle.CURRENCIES[slot]: name for slot, name in enumerate(market) if name}
        wanted = oracle.hand_out([[card(name) for name in hand] for hand in hands], left)
        state._hand_out()
        for name, winner in wanted.items():
            tile = TILE_SET.numbers[name]
            assert [seat for seat in range(seats) if state.won[seat] >> tile & 1] == (
                [] if winner is None else [winner]
            )
            assert (tile in state.market) is (winner is None)
        assert sum(len(tiles_of(won)) for won in state.won) + sum(tile != FREE for tile in state.market) == len(left)
        assert [list(hand) for hand in state.hands] == [list(counts(hand)) for hand in hands], "money is not spent"


def test_the_start_seat_is_that_of_the_rule_texts() -> None:
    rng = random.Random(4)
    for _ in range(500):
        seats = rng.randint(2, 6)
        hands = random_hands(rng, seats)
        state = position(seats, deck=[])
        state.hands = [counts(hand) for hand in hands]
        ages = rng.sample(range(seats), seats)
        state.options = type(state.options)(age_order=tuple(ages))
        assert state._start_seat() == oracle.first_seat([[card(name) for name in hand] for hand in hands], ages)


def test_the_slow_game_and_the_engine_number_cards_alike() -> None:
    names = [f"{currency}-{value}" for currency in oracle.CURRENCIES for value in range(1, VALUES + 1)]
    assert names == [card_name(kind) for kind in range(KINDS)]
    assert oracle.CURRENCIES == CURRENCIES
