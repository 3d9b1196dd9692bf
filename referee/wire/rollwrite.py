"""Roll & Write's values <-> protobuf. The form of a message is judged here, the rules of the game are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import FileDescriptor

from referee.games.game import Decision, SetupError
from referee.games.rollwrite import moves
from referee.games.rollwrite.options import Options, Solo
from referee.games.rollwrite.position import Phase
from referee.games.rollwrite.sheet import DICE, FACES, Sheet, cells_of, sheet
from referee.games.rollwrite.state import State
from referee.rollwrite.v1 import rollwrite_pb2 as pb
from referee.v1 import rollwrite_pb2 as api
from referee.wire.strict import MalformedError, decode

_SOLOS: Final = {Solo.POINTS: pb.SOLO_RULE_UNSPECIFIED, Solo.AGAINST: pb.SOLO_RULE_AGAINST}
_SOLO_OF: Final = {number: solo for solo, number in _SOLOS.items()}


def _refuse(path: str, what: str, expected: str) -> NoReturn:
    raise MalformedError(what, path, 0, expected)


# Parts


def _die(value: int, path: str) -> int:
    if not 1 <= value <= FACES:
        _refuse(path, f"a die shows {value}", f"1 to {FACES}")
    return value


def _pair(message: pb.Build | pb.KeepPair | pb.Roll, path: str) -> moves.Roll:
    return _die(message.blue, path + ".blue"), _die(message.yellow, path + ".yellow")


def _two(values: Sequence[int], path: str) -> tuple[int, ...]:
    dice = tuple(_die(value, f"{path}[{i}]") for i, value in enumerate(values))
    if len(dice) != 2:
        _refuse(path, f"{len(dice)} dice", "2 dice")
    if any(a > b for a, b in pairwise(dice)):
        _refuse(path, "dice out of order", "ascending")
    return dice


def _rolls(messages: Iterable[pb.Roll], path: str) -> tuple[moves.Roll, ...]:
    return tuple(_pair(message, f"{path}[{i}]") for i, message in enumerate(messages))


def _roll_messages(rolls: Iterable[moves.Roll]) -> list[pb.Roll]:
    return [pb.Roll(blue=blue, yellow=yellow) for blue, yellow in rolls]


def _explicit(message: Any, name: str, path: str) -> int:
    if not message.HasField(name):
        _refuse(f"{path}.{name}", "missing", f"the {name}'s number, explicit")
    number: int = getattr(message, name)
    return number


# Moves

_MOVES: Final[dict[str, Callable[[Any, str], moves.Move]]] = {
    "change_dice": lambda m, path: moves.ChangeDice(_two(m.blue, path + ".blue"), _two(m.yellow, path + ".yellow")),
    "build": lambda m, path: moves.Build(*_pair(m, path)),
    "get_coins": lambda _, __: moves.GetCoins(),
    "build_second": lambda _, __: moves.BuildSecond(),
    "end_building": lambda _, __: moves.EndBuilding(),
    "keep_pair": lambda m, path: moves.KeepPair(*_pair(m, path)),
}


def _move_message(move: moves.Move) -> pb.Move:
    match move:
        case moves.ChangeDice(blue, yellow):
            return pb.Move(change_dice=pb.ChangeDice(blue=blue, yellow=yellow))
        case moves.Build(blue, yellow):
            return pb.Move(build=pb.Build(blue=blue, yellow=yellow))
        case moves.GetCoins():
            return pb.Move(get_coins=pb.GetCoins())
        case moves.BuildSecond():
            return pb.Move(build_second=pb.BuildSecond())
        case moves.EndBuilding():
            return pb.Move(end_building=pb.EndBuilding())
        case moves.KeepPair(blue, yellow):
            return pb.Move(keep_pair=pb.KeepPair(blue=blue, yellow=yellow))


# Outcomes

_OUTCOMES: Final[dict[str, Callable[[Any, str], moves.Outcome]]] = {
    "start_seat": lambda m, path: moves.StartSeat(_explicit(m, "seat", path)),
    "start_buildings": lambda m, path: moves.StartBuildings(
        _explicit(m, "seat", path), _rolls(m.rolls, path + ".rolls")
    ),
    "start_dice": lambda m, path: moves.StartDice(_explicit(m, "seat", path), _rolls(m.rolls, path + ".rolls")),
    "dice": lambda m, path: moves.Dice(_rolls(m.rolls, path + ".rolls")),
    "virtual_buildings": lambda m, path: moves.VirtualBuildings(
        _explicit(m, "player", path), _rolls(m.rolls, path + ".rolls")
    ),
}


def _outcome_message(outcome: moves.Outcome) -> pb.Outcome:
    match outcome:
        case moves.StartSeat(seat):
            return pb.Outcome(start_seat=pb.StartSeat(seat=seat))
        case moves.StartBuildings(seat, rolls):
            return pb.Outcome(start_buildings=pb.StartBuildings(seat=seat, rolls=_roll_messages(rolls)))
        case moves.StartDice(seat, rolls):
            return pb.Outcome(start_dice=pb.StartDice(seat=seat, rolls=_roll_messages(rolls)))
        case moves.Dice(rolls):
            return pb.Outcome(dice=pb.Dice(rolls=_roll_messages(rolls)))
        case moves.VirtualBuildings(player, rolls):
            return pb.Outcome(virtual_buildings=pb.VirtualBuildings(player=player, rolls=_roll_messages(rolls)))


class Codec:
    """``referee.wire.registry.Codec`` for Roll & Write; ``components`` is the game's ``Sheet``."""

    def decode_options(self, data: bytes) -> Options:
        message = decode(pb.Options, data)
        return Options(
            start_seat=message.start_seat if message.HasField("start_seat") else None,
            virtual_players=message.virtual_players if message.HasField("virtual_players") else None,
            solo=_SOLO_OF[message.solo],
        )

    def encode_options(self, options: Options) -> bytes:
        return pb.Options(
            start_seat=options.start_seat,
            virtual_players=options.virtual_players,
            solo=_SOLOS[options.solo],
        ).SerializeToString(deterministic=True)

    def decode_components(self, data: bytes) -> Sheet:
        message = decode(pb.Tables, data)
        if message.rows_are == pb.COLOUR_UNSPECIFIED:
            _refuse("rows_are", "missing", "blue or yellow")
        for i, type_ in enumerate(message.grid):
            if type_ == pb.BUILDING_TYPE_UNSPECIFIED:
                _refuse(f"grid[{i}]", "no type", "one of the six types")
        try:
            return Sheet(
                message.sheet,
                tuple(type_ - 1 for type_ in message.grid),
                tuple(message.boxes),
                message.coin_track,
                DICE[message.rows_are - 1],
            )
        except SetupError as error:
            raise MalformedError(str(error), "", 0, "a sheet that keeps the constraints") from None

    def encode_components(self, components: Sheet | None = None) -> bytes:
        components = components or sheet()
        return pb.Tables(
            sheet=components.name,
            grid=[type_ + 1 for type_ in components.grid],  # type: ignore[misc]
            boxes=components.boxes,
            coin_track=components.coin_track,
            rows_are=DICE.index(components.rows_are) + 1,  # type: ignore[arg-type]
        ).SerializeToString(deterministic=True)

    def decode_move(self, data: bytes, components: Sheet) -> moves.Move:  # noqa: ARG002 - no sheet is needed
        message = decode(pb.Move, data)
        kind = message.WhichOneof("move")
        if kind is None:
            _refuse("", "no move is set", "exactly one kind of move")
        return _MOVES[kind](getattr(message, kind), kind)

    def encode_move(self, move: moves.Move, components: Sheet) -> bytes:  # noqa: ARG002 - no sheet is needed
        return _move_message(move).SerializeToString(deterministic=True)

    def decode_outcome(self, data: bytes, components: Sheet) -> moves.Outcome:  # noqa: ARG002 - no sheet is needed
        message = decode(pb.Outcome, data)
        kind = message.WhichOneof("outcome")
        if kind is None:
            _refuse("", "no outcome is set", "exactly one kind of outcome")
        return _OUTCOMES[kind](getattr(message, kind), kind)

    def encode_outcome(self, outcome: moves.Outcome, components: Sheet) -> bytes:  # noqa: ARG002 - no sheet is needed
        return _outcome_message(outcome).SerializeToString(deterministic=True)

    def position(self, state: State) -> api.RollwritePosition:
        """Return what everybody may see, which in Roll & Write is the whole state."""
        message = api.RollwritePosition(
            phase=state.phase.name.lower(),
            round=state.round,
            rounds=state.rounds,
            sheet=state.sheet.name,
            seats=[self._seat(state, seat) for seat in range(state.seats)],
            virtual_players=[
                api.RollwriteVirtual(counts=counts, score=score)
                for counts, score in zip(state.virtual, state.virtual_scores, strict=True)
            ],
            awards=[
                api.RollwriteAward(
                    type=award.type + 1,  # type: ignore[arg-type]
                    round=award.round,
                    seats=award.seats,
                    virtual_players=award.virtual,
                    points=award.each,
                )
                for award in state.awards
            ],
        )
        awaited = state.pending()[0]
        if isinstance(awaited, Decision):
            message.seat = awaited.seat
        if state.phase > Phase.START_SEAT:
            message.start_seat = state.start
        return message

    def _seat(self, state: State, seat: int) -> api.RollwriteSeat:
        return api.RollwriteSeat(
            score=state.scores[seat],
            built=_roll_messages(cells_of(state.built[seat])),
            blue=state.blue[seat],
            yellow=state.yellow[seat],
            coins=state.coins[seat],
            circled=state.circled[seat],
            counts=state.counts(seat),
        )

    def signed_file(self) -> FileDescriptor:
        return pb.DESCRIPTOR


CODECS: Final = {1: Codec()}
