"""Kingdomino's codec: every value has one encoding, and what is no value is refused with what, where and why."""

from __future__ import annotations

import random
from itertools import count, product
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from referee.games import registry
from referee.games.game import Decision, Over, SetupError
from referee.games.kingdomino import Options
from referee.games.kingdomino.dominoes import DOMINOES, TERRAINS, Domino, Half, domino_set
from referee.games.kingdomino.moves import (
    ChooseDomino,
    DiscardDomino,
    FirstOrder,
    Line,
    PlaceCastle,
    PlaceDomino,
)
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.harness import check_game, evenly
from referee.kingdomino.v1 import kingdomino_pb2 as pb
from referee.wire.kingdomino import CODECS
from referee.wire.strict import MalformedError
from tests.sizes import Part, in_parts

GAME = registry.get("kingdomino", 1)
CODEC = CODECS[1]
DOMINO_SET = domino_set()

numbers = st.integers(1, 48)
unsigned = st.integers(0, 2**32 - 1)
signed = st.integers(-(2**31), 2**31 - 1)
cells = st.tuples(signed, signed)
moves = st.one_of(
    st.builds(PlaceCastle, unsigned, unsigned),
    st.builds(ChooseDomino, numbers),
    st.builds(PlaceDomino, numbers, cells, cells),
    st.builds(DiscardDomino, numbers),
)
outcomes = st.one_of(
    st.builds(FirstOrder, st.lists(unsigned, max_size=9).map(tuple)),
    st.builds(Line, st.lists(numbers, max_size=9).map(tuple)),
)
options = st.builds(
    Options,
    frame=st.sampled_from(Frame),
    first_order=st.sampled_from(Draw),
    declared_order=st.lists(unsigned, max_size=9).map(tuple),
    central=st.sampled_from(Central),
    harmony=st.booleans(),
    mighty_duel=st.booleans(),
    wider_offer=st.booleans(),
    dynasty=st.booleans(),
)
halves = st.builds(Half, st.integers(0, 5), st.integers(0, 3))
components = st.lists(st.tuples(halves, halves), min_size=48, max_size=48).map(
    lambda pieces: domino_set(tuple(Domino(i, *both) for i, both in enumerate(pieces, start=1)))
)


@given(moves)
def test_moves(move: Any) -> None:
    data = CODEC.encode_move(move, DOMINO_SET)
    assert CODEC.decode_move(data, DOMINO_SET) == move
    assert pb.Move.FromString(data).SerializeToString(deterministic=True) == data


@given(outcomes)
def test_outcomes(outcome: Any) -> None:
    assert CODEC.decode_outcome(CODEC.encode_outcome(outcome, DOMINO_SET), DOMINO_SET) == outcome


@given(options)
def test_options(chosen: Options) -> None:
    assert CODEC.decode_options(CODEC.encode_options(chosen)) == chosen


def test_no_options_are_no_bytes() -> None:
    assert CODEC.encode_options(Options()) == b""


@given(components)
def test_components(table: Any) -> None:
    assert CODEC.decode_components(CODEC.encode_components(table)).dominoes == table.dominoes


def test_the_default_table_is_that_of_the_rules() -> None:
    message = pb.Tables.FromString(CODEC.encode_components())
    assert CODEC.decode_components(CODEC.encode_components()).dominoes == DOMINOES
    assert [each.number for each in message.dominoes] == list(range(1, 49))
    last = message.dominoes[47]
    assert (last.left.terrain, last.left.crowns, last.right.terrain, last.right.crowns) == (
        pb.TERRAIN_WHEAT,
        0,
        pb.TERRAIN_MINE,
        3,
    )
    names = [pb.Terrain.Name(number) for number in pb.Terrain.values()[1:]]
    assert names == [f"TERRAIN_{name.upper()}" for name in TERRAINS]


CELL = pb.Cell(x=0, y=1)


def refused(decode: Any, message: Message | bytes, why: str) -> None:
    data = message if isinstance(message, bytes) else message.SerializeToString(deterministic=True)
    with pytest.raises(MalformedError) as caught:
        decode(data)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (pb.Move(), "message at byte 0: no move is set; expected exactly one kind of move"),
        (b"\x30\x01", "message at byte 0: unknown field 6; expected fields of the schema only"),
        (
            pb.Move(place_castle=pb.PlaceCastle(column=0)),
            "place_castle at byte 0: a coordinate is missing; expected column and row, both explicit",
        ),
        (
            pb.Move(place_castle=pb.PlaceCastle(row=0)),
            "place_castle at byte 0: a coordinate is missing; expected column and row, both explicit",
        ),
        (
            pb.Move(choose_domino=pb.ChooseDomino()),
            "choose_domino.domino at byte 0: unknown domino 0; expected a number of the game's domino set",
        ),
        (
            pb.Move(discard_domino=pb.DiscardDomino(domino=49)),
            "discard_domino.domino at byte 0: unknown domino 49; expected a number of the game's domino set",
        ),
        (
            pb.Move(place_domino=pb.PlaceDomino(left=CELL, right=CELL)),
            "place_domino.domino at byte 0: unknown domino 0; expected a number of the game's domino set",
        ),
        (
            pb.Move(place_domino=pb.PlaceDomino(domino=1, right=CELL)),
            "place_domino.left at byte 0: a coordinate is missing; expected x and y, both explicit",
        ),
        (
            pb.Move(place_domino=pb.PlaceDomino(domino=1, left=CELL, right=pb.Cell(x=1))),
            "place_domino.right at byte 0: a coordinate is missing; expected x and y, both explicit",
        ),
        (
            pb.Move(place_domino=pb.PlaceDomino(domino=1, left=pb.Cell(y=0), right=CELL)),
            "place_domino.left at byte 0: a coordinate is missing; expected x and y, both explicit",
        ),
    ],
    ids=count(),
)
def test_malformed_moves(message: Message | bytes, why: str) -> None:
    refused(lambda data: CODEC.decode_move(data, DOMINO_SET), message, why)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (pb.Outcome(), "message at byte 0: no outcome is set; expected exactly one kind of outcome"),
        (
            pb.Outcome(line=pb.Line(dominoes=[3, 49])),
            "line.dominoes at byte 0: unknown domino 49; expected a number of the game's domino set",
        ),
        (
            pb.Outcome(line=pb.Line(dominoes=[0, 3])),
            "line.dominoes at byte 0: unknown domino 0; expected a number of the game's domino set",
        ),
    ],
    ids=count(),
)
def test_malformed_outcomes(message: Message, why: str) -> None:
    refused(lambda data: CODEC.decode_outcome(data, DOMINO_SET), message, why)


@pytest.mark.parametrize("field", [1, 2, 4])
def test_enumerations_have_only_their_values(field: int) -> None:
    largest = {1: 1, 2: 1, 4: 2}[field]
    CODEC.decode_options(bytes([field << 3, largest]))
    with pytest.raises(MalformedError):
        CODEC.decode_options(bytes([field << 3, largest + 1]))


def changed(domino: int, **fields: Any) -> pb.Tables:
    """Return the default table with other fields in one domino."""
    message = pb.Tables.FromString(CODEC.encode_components())
    each: Any = message.dominoes[domino - 1]
    for name, value in fields.items():
        if value is None:
            each.ClearField(name)
        elif isinstance(value, Message):
            getattr(each, name).CopyFrom(value)
        else:
            setattr(each, name, value)
    return message


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (pb.Tables(), "dominoes at byte 0: dominoes: expected the numbers 1 to 48, ascending; expected 48 dominoes"),
        (
            changed(1, number=2),
            "dominoes[0].number at byte 0: domino 2; expected 1: the numbers 1 to 48, ascending",
        ),
        (
            changed(7, left=None),
            "dominoes[6].left.terrain at byte 0: missing; expected one of wheat, forest, lake, meadow, swamp, mine",
        ),
        (
            changed(7, right=pb.Half(crowns=1)),
            "dominoes[6].right.terrain at byte 0: missing; expected one of wheat, forest, lake, meadow, swamp, mine",
        ),
        (
            changed(48, right=pb.Half(terrain=pb.TERRAIN_MINE, crowns=4)),
            "dominoes[47].right.crowns at byte 0: 4 crowns; expected 0 to 3",
        ),
    ],
    ids=count(),
)
def test_malformed_components(message: pb.Tables, why: str) -> None:
    refused(CODEC.decode_components, message, why)


def test_dominoes_too_few_and_too_many() -> None:
    message = pb.Tables.FromString(CODEC.encode_components())
    del message.dominoes[47]
    with pytest.raises(MalformedError):
        CODEC.decode_components(message.SerializeToString())
    message = pb.Tables.FromString(CODEC.encode_components())
    message.dominoes.add(number=49, left=pb.Half(terrain=pb.TERRAIN_MINE), right=pb.Half(terrain=pb.TERRAIN_MINE))
    with pytest.raises(MalformedError):
        CODEC.decode_components(message.SerializeToString())


# Whole games


def combinations() -> list[tuple[int, Options]]:
    """Every legal combination of what a game is opened with."""
    found = []
    for seats, frame, draw, central in product((2, 3, 4), Frame, Draw, Central):
        for flags in product((False, True), repeat=4):
            try:
                found.append((seats, Options(frame, draw, (), central, *flags).for_seats(seats)))
            except SetupError:
                continue
    return found


COMBINATIONS = combinations()


def play(seats: int, chosen: Options, seed: int) -> None:
    check_game(GAME, seats, random.Random(seed), options=chosen, codec=CODEC, choose=evenly)


@in_parts(3)
def test_every_course_that_a_game_can_take(part: Part) -> None:
    """Frame, draw and lines in all their combinations; what only changes points is chosen at random."""
    courses: dict[Any, list[Options]] = {}
    for seats, each in COMBINATIONS:
        courses.setdefault((seats, each.frame, each.first_order, each.mighty_duel, each.wider_offer), []).append(each)
    assert len(courses) == 2 * 2 * (3 + 2 + 1)
    for number, ((seats, *_), like_it) in part.of(enumerate(courses.items())):
        play(seats, random.Random(number).choice(like_it), number)


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_combination(seats: int) -> None:
    for number, (of, chosen) in enumerate(COMBINATIONS):
        if of == seats and not chosen.dynasty:  # which changes nothing within a game
            play(seats, chosen, number)


def test_there_are_as_many_combinations_as_the_rules_allow() -> None:
    """Each of the 5 for frame and centre has: 16 at 2 seats less those of both duel and wider offer, 8 at 3, 4 at 4."""
    assert len(COMBINATIONS) == 5 * 2 * (12 + 8 + 4)
    assert all(CODEC.decode_options(CODEC.encode_options(chosen)) == chosen for _, chosen in COMBINATIONS)


# Positions


@pytest.mark.parametrize(("seats", "chosen"), [(2, Options(wider_offer=True)), (3, Options(frame=Frame.RELATIVE))])
def test_positions_tell_the_whole_state(seats: int, chosen: Options) -> None:
    def watch(state: Any) -> None:
        shown = CODEC.position(state)
        (awaited,) = state.pending()
        assert shown.phase == state.phase.name.lower()
        assert shown.HasField("seat") == isinstance(awaited, Decision)
        if isinstance(awaited, Decision):
            assert shown.seat == awaited.seat
        assert (shown.lines, shown.lines_in_all, shown.undrawn) == (state.lines, state.lines_in_all, state.undrawn())
        assert [(king.domino, king.seat) for king in shown.kings] == state.kings
        assert [offer.domino for offer in shown.offer] == state.offer
        assert {offer.domino: offer.seat for offer in shown.offer if offer.HasField("seat")} == state.claims
        assert list(shown.removed) == state.removed
        for seat, each in enumerate(shown.seats):
            kingdom = state.kingdoms[seat]
            assert each.HasField("castle") == (kingdom.castle is not None)
            if kingdom.castle is not None:
                assert (each.castle.column, each.castle.row) == kingdom.castle
            placed = [(d.domino, (d.left.x, d.left.y), (d.right.x, d.right.y)) for d in each.kingdom]
            assert tuple(placed) == kingdom.dominoes
            assert all(cell.HasField("x") and cell.HasField("y") for d in each.kingdom for cell in (d.left, d.right))
            assert list(each.discarded) == state.discarded[seat]
            assert (each.score, each.largest_area, each.crowns) == state.standing(seat)
        if isinstance(awaited, Over):
            assert [each.score for each in shown.seats] == list(awaited.scores)

    check_game(GAME, seats, random.Random(seats), options=chosen, codec=CODEC, watch=watch)
