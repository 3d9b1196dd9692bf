"""A tournament's acts, terms and position <-> protobuf. Judges the form of a message, not the rules.

The position is whole both ways: with the message alone one can judge and pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import Message

from referee.event.v1 import event_pb2 as pb
from referee.games.game import SetupError
from referee.tournament.rules import acts
from referee.tournament.rules.position import Phase
from referee.tournament.rules.round import VOID, Entrant, Round
from referee.tournament.rules.scoring import table_points
from referee.tournament.rules.situation import due
from referee.tournament.rules.state import State
from referee.tournament.rules.terms import Options, Terms, TieBreak
from referee.v1 import event_pb2 as position_pb
from referee.wire.strict import MalformedError, decode

HASH_BYTES: Final = 32
GAME_ID_BYTES: Final = 16


def refuse(path: str, what: str, expected: str) -> NoReturn:
    """Raise ``MalformedError``."""
    raise MalformedError(what, path, 0, expected)


def sized(value: bytes, length: int, path: str, *, optional: bool = False) -> bytes:
    if len(value) != length and (value or not optional):
        refuse(path, f"{len(value)} bytes", f"{length} bytes{' or none' if optional else ''}")
    return value


def tables_of(messages: Iterable[pb.Table], path: str) -> acts.Tables:
    tables = tuple(tuple(message.players) for message in messages)
    for i, table in enumerate(tables):
        if not table:
            refuse(f"{path}[{i}]", "no players", "a table with players")
    return tables


def table_messages(tables: acts.Tables) -> list[pb.Table]:
    """Return a message for each table."""
    return [pb.Table(players=table) for table in tables]


def result_of(message: pb.Result, path: str = "result") -> acts.Result:
    """Raise ``MalformedError``."""
    if not message.places:
        refuse(f"{path}.places", "none", "a place for every seat")
    log = None
    if message.HasField("log"):
        game_id = sized(message.log.game_id, GAME_ID_BYTES, f"{path}.log.game_id")
        log = acts.GameLog(game_id, message.log.size, sized(message.log.root, HASH_BYTES, f"{path}.log.root"))
    return acts.Result(tuple(message.places), tuple(message.scores), tuple(message.forfeited), log)


def result_message(result: acts.Result) -> pb.Result:
    """Return the result as acts have it."""
    message = pb.Result(places=result.places, scores=result.scores, forfeited=result.forfeited)
    if result.log is not None:
        message.log.CopyFrom(pb.GameLog(game_id=result.log.game_id, size=result.log.size, root=result.log.root))
    return message


def terms_of(message: pb.Tables) -> Terms:
    """Raise ``MalformedError``."""
    for i, tie_break in enumerate(message.tie_breaks):
        if tie_break == pb.TIE_BREAK_UNSPECIFIED:
            refuse(f"tie_breaks[{i}]", "none", "a tie-break")
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


def terms_message(terms: Terms) -> pb.Tables:
    """Return the terms as GameOpen has them."""
    return pb.Tables(**vars(terms) | {"points": [pb.Points(places=places) for places in terms.points]})


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
        return position_message(state)

    def signed_file(self) -> FileDescriptor:
        return pb.DESCRIPTOR


CODECS: Final = {1: Codec()}


_PHASES = {
    Phase.ENTERING: position_pb.EVENT_PHASE_ENTERING,
    Phase.OPENING: position_pb.EVENT_PHASE_OPENING,
    Phase.PLAYING: position_pb.EVENT_PHASE_PLAYING,
    Phase.OVER: position_pb.EVENT_PHASE_OVER,
}
_PHASE_OF = {number: phase for phase, number in _PHASES.items()}


def position_message(state: State) -> position_pb.EventPosition:
    """Return all of it."""
    return position_pb.EventPosition(
        terms=terms_message(state.terms),
        phase=_PHASES[state.phase],
        due=position_pb.EventDue.ValueType(due(state)),
        entrants=[_entrant_message(state.entrants[number]) for number in sorted(state.entrants)],
        forbidden=[
            position_pb.EventForbidden(first=first, second=second, hard=hard)
            for (first, second), hard in sorted(state.forbidden.items())
        ],
        plan=[
            position_pb.EventPlan(round=number, tables=table_messages(tables))
            for number, tables in sorted(state.plan.items())
        ],
        rounds=[_round_message(state.terms, each) for each in state.rounds],
        key=state.key,
        cut=state.is_cut,
        abandoned=state.is_abandoned,
    )


def _entrant_message(entrant: Entrant) -> position_pb.EventEntrant:
    return position_pb.EventEntrant(
        number=entrant.number,
        player=entrant.player,
        key=entrant.key,
        commitment=entrant.commitment,
        share=entrant.share,
        checked_in=entrant.is_there,
        first_round=entrant.first_round,
        late_points=entrant.late_points,
        withdrawn=entrant.has_withdrawn,
        expelled=entrant.is_expelled,
        absent=entrant.absent,
    )


def _round_message(terms: Terms, round_: Round) -> position_pb.EventRound:
    return position_pb.EventRound(
        number=round_.number,
        tables=[_table_message(terms, round_, number, players) for number, players in enumerate(round_.tables, 1)],
        byes=round_.byes,
        vector=round_.vector,
        bound=round_.bound,
        origin=pb.Origin.ValueType(round_.origin),
        published=round_.is_published,
        closed=round_.is_closed,
        awards=[position_pb.EventAward(number=who, points=points) for who, points in sorted(round_.awards.items())],
        standings=round_.standings,
    )


def _table_message(terms: Terms, round_: Round, number: int, players: Iterable[int]) -> position_pb.EventTable:
    table = position_pb.EventTable(players=players, game_id=round_.games.get(number, b"").hex())
    if (result := round_.played(number)) is not None:
        table.result.CopyFrom(result_message(result))
        if not round_.is_knock_out:
            table.points.extend(table_points(terms, result))
    elif number in round_.results:
        table.void = True
    return table


def state_of(message: position_pb.EventPosition) -> State:
    """Return the event that ``write`` made the message of."""
    state = State(1, terms_of(message.terms))
    state.phase = _PHASE_OF[message.phase]
    state.key = message.key
    state.entrants = {each.number: _entrant_of(each) for each in message.entrants}
    state.forbidden = {(each.first, each.second): each.hard for each in message.forbidden}
    state.plan = {each.round: _seating_of(each.tables) for each in message.plan}
    state.rounds = tuple(_round_of(each) for each in message.rounds)
    state.is_cut, state.is_abandoned = message.cut, message.abandoned
    return state


def _entrant_of(message: position_pb.EventEntrant) -> Entrant:
    return Entrant(
        number=message.number,
        player=message.player,
        key=message.key,
        commitment=message.commitment,
        share=message.share,
        is_there=message.checked_in,
        first_round=message.first_round,
        late_points=message.late_points,
        has_withdrawn=message.withdrawn,
        is_expelled=message.expelled,
        absent=tuple(message.absent),
    )


def _seating_of(messages: Iterable[pb.Table | position_pb.EventTable]) -> acts.Tables:
    return tuple(tuple(each.players) for each in messages)


def _round_of(message: position_pb.EventRound) -> Round:
    tables = list(enumerate(message.tables, 1))
    played = {number: result_of(each.result) for number, each in tables if each.HasField("result")}
    return Round(
        number=message.number,
        tables=_seating_of(message.tables),
        byes=tuple(message.byes),
        vector=tuple(message.vector),
        bound=message.bound,
        origin=acts.Origin(message.origin),
        is_published=message.published,
        is_closed=message.closed,
        results=played | {number: VOID for number, each in tables if each.void},
        games={number: bytes.fromhex(each.game_id) for number, each in tables if each.game_id},
        awards={each.number: each.points for each in message.awards},
        standings=message.standings,
    )
