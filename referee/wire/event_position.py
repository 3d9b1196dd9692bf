"""An event's position <-> protobuf, whole both ways: who has the message can judge and pair without the log."""

from __future__ import annotations

from collections.abc import Iterable

from referee.event.v1 import event_pb2 as signed
from referee.games.event import acts
from referee.games.event.due import due
from referee.games.event.entrant import Entrant
from referee.games.event.phases import Phase
from referee.games.event.round import VOID, Round
from referee.games.event.scoring import table_points
from referee.games.event.state import State
from referee.games.event.terms import Terms
from referee.v1 import event_pb2 as pb
from referee.wire import event_parts as parts

_PHASES = {
    Phase.ENTERING: pb.EVENT_PHASE_ENTERING,
    Phase.OPENING: pb.EVENT_PHASE_OPENING,
    Phase.PLAYING: pb.EVENT_PHASE_PLAYING,
    Phase.OVER: pb.EVENT_PHASE_OVER,
}
_PHASE_OF = {number: phase for phase, number in _PHASES.items()}


def write(state: State) -> pb.EventPosition:
    """Return all of it."""
    return pb.EventPosition(
        terms=parts.terms_message(state.terms),
        phase=_PHASES[state.phase],
        due=pb.EventDue.ValueType(due(state)),
        entrants=[_entrant(state.entrants[number]) for number in sorted(state.entrants)],
        forbidden=[
            pb.EventForbidden(first=first, second=second, hard=hard)
            for (first, second), hard in sorted(state.forbidden.items())
        ],
        plan=[
            pb.EventPlan(round=number, tables=parts.table_messages(tables))
            for number, tables in sorted(state.plan.items())
        ],
        rounds=[_round(state.terms, each) for each in state.rounds],
        key=state.key,
        cut=state.is_cut,
        abandoned=state.is_abandoned,
    )


def _entrant(entrant: Entrant) -> pb.EventEntrant:
    return pb.EventEntrant(
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


def _round(terms: Terms, round_: Round) -> pb.EventRound:
    return pb.EventRound(
        number=round_.number,
        tables=[_table(terms, round_, number, players) for number, players in enumerate(round_.tables, 1)],
        byes=round_.byes,
        vector=round_.vector,
        bound=round_.bound,
        origin=signed.Origin.ValueType(round_.origin),
        published=round_.is_published,
        closed=round_.is_closed,
        awards=[pb.EventAward(number=who, points=points) for who, points in sorted(round_.awards.items())],
        standings=round_.standings,
    )


def _table(terms: Terms, round_: Round, number: int, players: Iterable[int]) -> pb.EventTable:
    table = pb.EventTable(players=players, game_id=round_.games.get(number, b"").hex())
    if (result := round_.played(number)) is not None:
        table.result.CopyFrom(parts.result_message(result))
        if not round_.is_knock_out:
            table.points.extend(table_points(terms, result))
    elif number in round_.results:
        table.void = True
    return table


def read(message: pb.EventPosition) -> State:
    """Return the event that ``write`` made the message of."""
    state = State(1, parts.terms_of(message.terms))
    state.phase = _PHASE_OF[message.phase]
    state.key = message.key
    state.entrants = {each.number: _read_entrant(each) for each in message.entrants}
    state.forbidden = {(each.first, each.second): each.hard for each in message.forbidden}
    state.plan = {each.round: _read_tables(each.tables) for each in message.plan}
    state.rounds = tuple(_read_round(each) for each in message.rounds)
    state.is_cut, state.is_abandoned = message.cut, message.abandoned
    return state


def _read_entrant(message: pb.EventEntrant) -> Entrant:
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


def _read_tables(messages: Iterable[signed.Table | pb.EventTable]) -> acts.Tables:
    return tuple(tuple(each.players) for each in messages)


def _read_round(message: pb.EventRound) -> Round:
    tables = list(enumerate(message.tables, 1))
    played = {number: parts.result_of(each.result) for number, each in tables if each.HasField("result")}
    return Round(
        number=message.number,
        tables=_read_tables(message.tables),
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
