"""Roll & Write's codec: every value has one encoding, and what is no value is refused with what, where and why."""

from __future__ import annotations

import random
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from referee.games import registry
from referee.games.game import Decision, Over
from referee.games.rollwrite.moves import (
    Build,
    BuildSecond,
    ChangeDice,
    Dice,
    EndBuilding,
    GetCoins,
    KeepPair,
    StartBuildings,
    StartDice,
    StartSeat,
    VirtualBuildings,
)
from referee.games.rollwrite.options import Options, Solo
from referee.games.rollwrite.sheet import TYPES, Sheet, cells_of, sheet
from referee.harness import check_game
from referee.rollwrite.v1 import rollwrite_pb2 as pb
from referee.wire.rollwrite import CODECS
from referee.wire.strict import MalformedError
from tests.sizes import sample_of

CODEC = CODECS[1]
SHEET = sheet()

faces = st.integers(1, 6)
numbers = st.integers(0, 2**32 - 1)
twos = st.tuples(faces, faces).map(lambda dice: tuple(sorted(dice)))
rolls = st.lists(st.tuples(faces, faces), max_size=9).map(tuple)
moves = st.one_of(
    st.builds(ChangeDice, twos, twos),
    st.builds(Build, faces, faces),
    st.builds(KeepPair, faces, faces),
    st.sampled_from([GetCoins(), BuildSecond(), EndBuilding()]),
)
outcomes = st.one_of(
    st.builds(StartSeat, numbers),
    st.builds(StartBuildings, numbers, rolls),
    st.builds(StartDice, numbers, rolls),
    st.builds(Dice, rolls),
    st.builds(VirtualBuildings, numbers, rolls),
)
options = st.builds(Options, st.none() | numbers, st.none() | numbers, st.sampled_from(Solo))
sheets = st.builds(
    lambda name, grid, track, rows: Sheet(name, grid, tuple(map(grid.count, range(6))), track, rows),
    st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True),
    st.lists(st.integers(0, 5), min_size=11, max_size=11)
    .map(lambda some: (*some, 2, *(type_ for type_ in range(6) for _ in range(4))))
    .flatmap(st.permutations)
    .map(tuple),
    st.integers(7, 255),
    st.sampled_from(["blue", "yellow"]),
)


@given(moves)
def test_moves(move: Any) -> None:
    data = CODEC.encode_move(move, SHEET)
    assert CODEC.decode_move(data, SHEET) == move


@given(outcomes)
def test_outcomes(outcome: Any) -> None:
    data = CODEC.encode_outcome(outcome, SHEET)
    assert CODEC.decode_outcome(data, SHEET) == outcome


@given(options)
def test_options(chosen: Options) -> None:
    data = CODEC.encode_options(chosen)
    assert CODEC.decode_options(data) == chosen
    assert (data == b"") == (chosen == Options())


@given(sheets)
def test_sheets(declared: Sheet) -> None:
    data = CODEC.encode_components(declared)
    assert CODEC.decode_components(data) == declared


@given(st.binary(max_size=40))
def test_any_bytes_are_refused_or_the_one_encoding(data: bytes) -> None:
    for decode, encode in (
        (CODEC.decode_options, CODEC.encode_options),
        (CODEC.decode_components, CODEC.encode_components),
        (lambda data: CODEC.decode_move(data, SHEET), lambda move: CODEC.encode_move(move, SHEET)),
        (lambda data: CODEC.decode_outcome(data, SHEET), lambda outcome: CODEC.encode_outcome(outcome, SHEET)),
    ):
        try:
            value: Any = decode(data)
        except MalformedError:
            continue
        assert encode(value) == data


def bytes_of(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (pb.Move(), "message at byte 0: no move is set; expected exactly one kind of move"),
        (pb.Move(build=pb.Build(blue=7, yellow=1)), "build.blue at byte 0: a die shows 7; expected 1 to 6"),
        (pb.Move(build=pb.Build(blue=1)), "build.yellow at byte 0: a die shows 0; expected 1 to 6"),
        (pb.Move(keep_pair=pb.KeepPair(yellow=1)), "keep_pair.blue at byte 0: a die shows 0; expected 1 to 6"),
        (
            pb.Move(change_dice=pb.ChangeDice(blue=[1, 2], yellow=[3])),
            "change_dice.yellow at byte 0: 1 dice; expected 2 dice",
        ),
        (
            pb.Move(change_dice=pb.ChangeDice(blue=[2, 1], yellow=[3, 3])),
            "change_dice.blue at byte 0: dice out of order; expected ascending",
        ),
        (
            pb.Move(change_dice=pb.ChangeDice(blue=[1, 2], yellow=[3, 9])),
            "change_dice.yellow[1] at byte 0: a die shows 9; expected 1 to 6",
        ),
    ],
    ids=str,
)
def test_malformed_moves(message: pb.Move, error: str) -> None:
    with pytest.raises(MalformedError) as caught:
        CODEC.decode_move(bytes_of(message), SHEET)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (pb.Outcome(), "message at byte 0: no outcome is set; expected exactly one kind of outcome"),
        (
            pb.Outcome(start_seat=pb.StartSeat()),
            "start_seat.seat at byte 0: missing; expected the seat's number, explicit",
        ),
        (
            pb.Outcome(start_buildings=pb.StartBuildings(rolls=[pb.Roll(blue=1, yellow=1)])),
            "start_buildings.seat at byte 0: missing; expected the seat's number, explicit",
        ),
        (
            pb.Outcome(start_dice=pb.StartDice()),
            "start_dice.seat at byte 0: missing; expected the seat's number, explicit",
        ),
        (
            pb.Outcome(virtual_buildings=pb.VirtualBuildings()),
            "virtual_buildings.player at byte 0: missing; expected the player's number, explicit",
        ),
        (
            pb.Outcome(dice=pb.Dice(rolls=[pb.Roll(blue=1, yellow=1), pb.Roll(blue=1)])),
            "dice.rolls[1].yellow at byte 0: a die shows 0; expected 1 to 6",
        ),
    ],
    ids=str,
)
def test_malformed_outcomes(message: pb.Outcome, error: str) -> None:
    with pytest.raises(MalformedError) as caught:
        CODEC.decode_outcome(bytes_of(message), SHEET)
    assert str(caught.value) == error


def test_a_rule_of_solo_games_that_nobody_knows() -> None:
    with pytest.raises(MalformedError, match=r"^solo at byte 1: unknown enum number 2; expected a number of the enum$"):
        CODEC.decode_options(b"\x18\x02")


def components(**changed: Any) -> bytes:
    """Return the default's, but for what is changed."""
    message = pb.Tables.FromString(CODEC.encode_components(None))
    for name, value in changed.items():
        if isinstance(value, list):
            message.ClearField(name)  # type: ignore[arg-type]
            getattr(message, name).extend(value)
        else:
            setattr(message, name, value)
    return bytes_of(message)


GRID = [type_ + 1 for type_ in SHEET.grid]
PAVILIONS = [i for i, type_ in enumerate(GRID) if type_ == 1]


@pytest.mark.parametrize(
    ("changed", "where", "constraint"),
    [
        ({"rows_are": 0}, "rows_are", "missing"),
        ({"grid": [*GRID[:35], 0]}, "grid[35]", "no type"),
        ({"sheet": "Mine"}, "", "name 'Mine'"),
        ({"sheet": ""}, "", "name ''"),
        ({"sheet": "x" * 41}, "", "up to 40 lower-case letters"),
        ({"sheet": "mine", "grid": GRID[:35]}, "", "sheet mine: cells: "),
        ({"sheet": "mine", "grid": []}, "", "sheet mine: cells: "),
        ({"sheet": "mine", "boxes": [5, 5, 6, 6, 7]}, "", "sheet mine: boxes: "),
        ({"sheet": "mine", "boxes": [5, 5, 6, 6, 7, 8]}, "", "sheet mine: boxes: 8 of tower"),
        ({"sheet": "mine", "coin_track": 6}, "", "sheet mine: coin_track: 6"),
        ({"coin_track": 21}, "", "sheet rw-default-1: name: "),
        (
            {
                "sheet": "mine",
                "grid": [6 if i in PAVILIONS[:2] else type_ for i, type_ in enumerate(GRID)],
                "boxes": [3, 5, 6, 6, 7, 9],
            },
            "",
            "sheet mine: boxes: 3 of pavilion, expected at least 4",
        ),
        (
            {
                "sheet": "mine",
                "grid": [6 if i in (2, 7) else type_ for i, type_ in enumerate(GRID)],
                "boxes": [5, 5, 4, 6, 7, 9],
            },
            "",
            "sheet mine: arcades: 4 boxes",
        ),
    ],
    ids=str,
)
def test_a_sheet_that_breaks_a_constraint_is_refused_by_its_name(
    changed: dict[str, Any], where: str, constraint: str
) -> None:
    with pytest.raises(MalformedError) as caught:
        CODEC.decode_components(components(**changed))
    assert caught.value.path == where
    assert constraint in caught.value.what
    assert caught.value.expected


def test_the_default_sheet_is_encoded_if_none_is_given() -> None:
    assert CODEC.decode_components(CODEC.encode_components(None)) == SHEET


def see(state: Any) -> None:
    """The position as the API shows it, against the state."""
    seen = CODEC.position(state)
    (awaited,) = state.pending()
    assert seen.phase == state.phase.name.lower()
    assert seen.HasField("seat") == isinstance(awaited, Decision)
    assert not isinstance(awaited, Decision) or seen.seat == awaited.seat
    assert (seen.sheet, seen.round, seen.rounds) == ("rw-default-1", state.round, state.rounds)
    for seat, own in enumerate(seen.seats):
        assert [(roll.blue, roll.yellow) for roll in own.built] == cells_of(state.built[seat])
        assert sum(own.counts) == len(own.built)
        assert len(own.blue) == len(own.yellow) <= 2
        assert own.coins <= own.circled
    assert isinstance(awaited, Over) <= ([own.score for own in seen.seats] == state.scores)
    assert [list(player.counts) for player in seen.virtual_players] == state.virtual
    for award in seen.awards:
        assert award.type in range(1, len(TYPES) + 1)
        assert len(award.seats) + len(award.virtual_players)


@pytest.mark.parametrize(
    ("seats", "chosen"),
    sample_of(
        [
            *((seats, Options()) for seats in range(1, 6)),
            *((1, Options(virtual_players=virtual, solo=Solo.AGAINST)) for virtual in (2, 3, 4)),
            (4, Options(start_seat=2)),
        ],
        3,
    ),
    ids=str,
)
def test_whole_games_on_the_wire(seats: int, chosen: Options) -> None:
    check_game(registry.get("rollwrite"), seats, random.Random(seats), options=chosen, watch=see)
