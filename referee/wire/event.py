"""An event's values <-> protobuf. The form of a message is judged here, the rules of events are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import Message

from referee.event.v1 import event_pb2 as pb
from referee.games.event import acts
from referee.games.event.state import State
from referee.games.event.terms import Options, Terms
from referee.wire import event_position
from referee.wire.event_parts import (
    GAME_ID_BYTES,
    HASH_BYTES,
    refuse,
    result_message,
    result_of,
    sized,
    table_messages,
    tables_of,
    terms_message,
    terms_of,
)
from referee.wire.strict import decode

# Acts


def _pair(m: pb.Pair, path: str) -> acts.Pair:
    if m.origin == pb.ORIGIN_UNSPECIFIED:
        refuse(f"{path}.origin", "missing", "where the pairing is from")
    return acts.Pair(
        m.round,
        tables_of(m.tables, f"{path}.tables"),
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
        sized(m.player, HASH_BYTES, f"{path}.player", optional=True),
        sized(m.key, HASH_BYTES, f"{path}.key", optional=True),
        m.first_round,
        m.late_points,
    ),
    "check_in": lambda m, path: acts.CheckIn(
        m.number, sized(m.commitment, HASH_BYTES, f"{path}.commitment", optional=True)
    ),
    "forbid": lambda m, _: acts.Forbid(m.first, m.second, m.hard),
    "close_entries": lambda _, __: acts.CloseEntries(),
    "share": lambda m, path: acts.Share(m.number, sized(m.seed, HASH_BYTES, f"{path}.seed")),
    "draw": lambda m, path: acts.Draw(sized(m.seed, HASH_BYTES, f"{path}.seed")),
    "plan": lambda m, path: acts.Plan(m.round, tables_of(m.tables, f"{path}.tables")),
    "withdraw": lambda m, _: acts.Withdraw(m.number),
    "readmit": lambda m, _: acts.Readmit(m.number),
    "absent": lambda m, _: acts.Absent(m.number, m.round),
    "expel": lambda m, _: acts.Expel(m.number, m.reason),
    "pair": _pair,
    "publish": lambda m, _: acts.Publish(m.round),
    "open_table": lambda m, path: acts.OpenTable(m.round, m.table, sized(m.game_id, GAME_ID_BYTES, f"{path}.game_id")),
    "enter_result": lambda m, path: acts.EnterResult(m.round, m.table, result_of(m.result, f"{path}.result")),
    "amend": lambda m, path: acts.Amend(m.round, m.table, result_of(m.result, f"{path}.result"), m.reason),
    "award": lambda m, _: acts.Award(m.round, m.number, m.points, m.reason),
    "void": lambda m, _: acts.Void(m.round, m.table, m.reason),
    "reopen": lambda m, _: acts.Reopen(m.round, m.reason),
    "close_round": lambda m, path: acts.CloseRound(m.round, sized(m.standings, HASH_BYTES, f"{path}.standings")),
    "cut": lambda _, __: acts.Cut(),
    "close": lambda m, path: acts.Close(sized(m.standings, HASH_BYTES, f"{path}.standings")),
    "abandon": lambda m, _: acts.Abandon(m.reason),
}


def _act_message(act: acts.Act) -> pb.Move:
    name = _FIELDS[type(act)]
    values: dict[str, Any] = {}
    for field, value in vars(act).items():
        match field:
            case "tables":
                values[field] = table_messages(value)
            case "result":
                values[field] = result_message(value)
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
        return terms_of(decode(pb.Tables, data))

    def encode_components(self, components: Terms | None = None) -> bytes:
        return terms_message(components or Terms()).SerializeToString(deterministic=True)

    def decode_move(self, data: bytes, components: Terms) -> acts.Act:  # noqa: ARG002 - no act depends on them
        message = decode(pb.Move, data)
        kind = message.WhichOneof("act")
        if kind is None:
            refuse("", "no act is set", "exactly one act")
        return _ACTS[kind](getattr(message, kind), kind)

    def encode_move(self, move: acts.Act, components: Terms) -> bytes:  # noqa: ARG002
        return _act_message(move).SerializeToString(deterministic=True)

    def decode_outcome(self, data: bytes, components: Terms) -> NoReturn:  # noqa: ARG002
        refuse("", "an outcome", "none: an event awaits no chance")

    def encode_outcome(self, outcome: Any, components: Terms) -> NoReturn:  # noqa: ARG002
        raise ValueError("an event has no outcomes")

    def position(self, state: State) -> Message:
        return event_position.write(state)

    def signed_file(self) -> FileDescriptor:
        return pb.DESCRIPTOR


CODECS: Final = {1: Codec()}
