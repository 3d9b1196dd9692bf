"""An event's values <-> protobuf. The form of a message is judged here, the rules of events are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import Message

from referee.event.v1 import event_pb2 as pb
from referee.games.event import acts
from referee.games.event.terms import Options, Terms, TieBreak
from referee.games.game import SetupError, UnknownRules
from referee.wire.strict import MalformedError, decode

_HASH: Final = 32
_GAME_ID: Final = 16


def _refuse(path: str, what: str, expected: str) -> NoReturn:
    raise MalformedError(what, path, 0, expected)


# Parts


def _bytes(value: bytes, length: int, path: str, *, optional: bool = False) -> bytes:
    if len(value) != length and (value or not optional):
        _refuse(path, f"{len(value)} bytes", f"{length} bytes{' or none' if optional else ''}")
    return value


def _tables(messages: Iterable[pb.Table], path: str) -> acts.Tables:
    tables = tuple(tuple(message.players) for message in messages)
    for i, table in enumerate(tables):
        if not table:
            _refuse(f"{path}[{i}]", "no players", "a table with players")
    return tables


def _table_messages(tables: acts.Tables) -> list[pb.Table]:
    return [pb.Table(players=table) for table in tables]


def _result(message: pb.Result, path: str) -> acts.Result:
    if not message.places:
        _refuse(f"{path}.places", "none", "a place for every seat")
    log = None
    if message.HasField("log"):
        game_id = _bytes(message.log.game_id, _GAME_ID, f"{path}.log.game_id")
        log = acts.GameLog(game_id, message.log.size, _bytes(message.log.root, _HASH, f"{path}.log.root"))
    return acts.Result(tuple(message.places), tuple(message.scores), tuple(message.forfeited), log)


def _result_message(result: acts.Result) -> pb.Result:
    message = pb.Result(places=result.places, scores=result.scores, forfeited=result.forfeited)
    if result.log is not None:
        message.log.CopyFrom(pb.GameLog(game_id=result.log.game_id, size=result.log.size, root=result.log.root))
    return message


# Acts


def _pair(m: pb.Pair, path: str) -> acts.Pair:
    if m.origin == pb.ORIGIN_UNSPECIFIED:
        _refuse(f"{path}.origin", "missing", "where the pairing is from")
    return acts.Pair(
        m.round,
        _tables(m.tables, f"{path}.tables"),
        tuple(m.byes),
        tuple(m.vector),
        m.bound,
        acts.Origin(m.origin),
        m.engine,
        m.reason,
        tuple(m.engine_vector),
    )


_ACTS: Final[dict[str, Callable[[Any, str], acts.Act]]] = {
    "enter": lambda m, path: acts.Enter(
        m.number,
        _bytes(m.player, _HASH, f"{path}.player", optional=True),
        _bytes(m.key, _HASH, f"{path}.key", optional=True),
        m.first_round,
        m.late_points,
    ),
    "check_in": lambda m, path: acts.CheckIn(
        m.number, _bytes(m.commitment, _HASH, f"{path}.commitment", optional=True)
    ),
    "forbid": lambda m, _: acts.Forbid(m.first, m.second, m.hard),
    "close_entries": lambda _, __: acts.CloseEntries(),
    "share": lambda m, path: acts.Share(m.number, _bytes(m.seed, _HASH, f"{path}.seed")),
    "draw": lambda m, path: acts.Draw(_bytes(m.seed, _HASH, f"{path}.seed")),
    "plan": lambda m, path: acts.Plan(m.round, _tables(m.tables, f"{path}.tables")),
    "withdraw": lambda m, _: acts.Withdraw(m.number),
    "readmit": lambda m, _: acts.Readmit(m.number),
    "absent": lambda m, _: acts.Absent(m.number, m.round),
    "expel": lambda m, _: acts.Expel(m.number, m.reason),
    "pair": _pair,
    "publish": lambda m, _: acts.Publish(m.round),
    "open_table": lambda m, path: acts.OpenTable(m.round, m.table, _bytes(m.game_id, _GAME_ID, f"{path}.game_id")),
    "enter_result": lambda m, path: acts.EnterResult(m.round, m.table, _result(m.result, f"{path}.result")),
    "amend": lambda m, path: acts.Amend(m.round, m.table, _result(m.result, f"{path}.result"), m.reason),
    "award": lambda m, _: acts.Award(m.round, m.number, m.points, m.reason),
    "void": lambda m, _: acts.Void(m.round, m.table, m.reason),
    "reopen": lambda m, _: acts.Reopen(m.round, m.reason),
    "close_round": lambda m, path: acts.CloseRound(m.round, _bytes(m.standings, _HASH, f"{path}.standings")),
    "cut": lambda _, __: acts.Cut(),
    "close": lambda m, path: acts.Close(_bytes(m.standings, _HASH, f"{path}.standings")),
    "abandon": lambda m, _: acts.Abandon(m.reason),
}


def _act_message(act: acts.Act) -> pb.Move:
    name = _FIELDS[type(act)]
    values: dict[str, Any] = {}
    for field, value in vars(act).items():
        match field:
            case "tables":
                values[field] = _table_messages(value)
            case "result":
                values[field] = _result_message(value)
            case _:
                values[field] = value
    move = pb.Move()
    member = getattr(move, name)
    member.SetInParent()
    member.MergeFrom(type(member)(**values))
    return move


_FIELDS: Final[dict[type, str]] = {
    acts.Enter: "enter",
    acts.CheckIn: "check_in",
    acts.Forbid: "forbid",
    acts.CloseEntries: "close_entries",
    acts.Share: "share",
    acts.Draw: "draw",
    acts.Plan: "plan",
    acts.Withdraw: "withdraw",
    acts.Readmit: "readmit",
    acts.Absent: "absent",
    acts.Expel: "expel",
    acts.Pair: "pair",
    acts.Publish: "publish",
    acts.OpenTable: "open_table",
    acts.EnterResult: "enter_result",
    acts.Amend: "amend",
    acts.Award: "award",
    acts.Void: "void",
    acts.Reopen: "reopen",
    acts.CloseRound: "close_round",
    acts.Cut: "cut",
    acts.Close: "close",
    acts.Abandon: "abandon",
}


class Codec:
    """``referee.wire.registry.Codec`` for events; ``components`` is the event's ``Terms``."""

    def decode_options(self, data: bytes) -> Options:
        decode(pb.Options, data)
        return Options()

    def encode_options(self, options: Options) -> bytes:  # noqa: ARG002 - there is nothing in it
        return b""

    def decode_components(self, data: bytes) -> Terms:
        message = decode(pb.Tables, data)
        for i, tie_break in enumerate(message.tie_breaks):
            if tie_break == pb.TIE_BREAK_UNSPECIFIED:
                _refuse(f"tie_breaks[{i}]", "none", "a tie-break")
        try:
            return Terms(
                game=message.game,
                sizes=tuple(message.sizes),
                rounds=message.rounds,
                points=tuple(tuple(each.places) for each in message.points),
                commitment=message.commitment,
                tie_breaks=tuple(TieBreak(each) for each in message.tie_breaks),
                bye_points=message.bye_points,
                late_until=message.late_until,
                late_points=message.late_points,
                forfeit_keeps_points=message.forfeit_keeps_points,
                cut=message.cut,
                cut_size=message.cut_size,
                cut_advance=message.cut_advance,
            )
        except SetupError as error:
            raise MalformedError(error.what, error.field, 0, "terms of an event") from None

    def encode_components(self, components: Terms | None = None) -> bytes:
        terms = components or Terms()
        values = vars(terms) | {"points": [pb.Points(places=places) for places in terms.points]}
        return pb.Tables(**values).SerializeToString(deterministic=True)

    def decode_move(self, data: bytes, components: Terms) -> acts.Act:  # noqa: ARG002 - no act depends on them
        message = decode(pb.Move, data)
        kind = message.WhichOneof("act")
        if kind is None:
            _refuse("", "no act is set", "exactly one act")
        return _ACTS[kind](getattr(message, kind), kind)

    def encode_move(self, move: acts.Act, components: Terms) -> bytes:  # noqa: ARG002
        return _act_message(move).SerializeToString(deterministic=True)

    def decode_outcome(self, data: bytes, components: Terms) -> NoReturn:  # noqa: ARG002
        _refuse("", "an outcome", "none: an event awaits no chance")

    def encode_outcome(self, outcome: Any, components: Terms) -> NoReturn:  # noqa: ARG002
        raise ValueError("an event has no outcomes")

    def position(self, state: Any) -> Message:  # noqa: ARG002
        """Raise ``UnknownRules``: an event is asked for in other words than a game."""
        raise UnknownRules("an event has no position of a game")

    def signed_file(self) -> FileDescriptor:
        return pb.DESCRIPTOR


CODECS: Final = {1: Codec()}
