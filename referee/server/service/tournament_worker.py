"""The worker of EventService: answers a method and its question with standings or pairings. Touches nothing outside.

Those of a large tournament take a second, and no player waits for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from referee.event.v1 import event_pb2 as signed_pb2
from referee.games.game import InputError
from referee.log.errors import RulesError
from referee.process.frames import BadQuestion
from referee.tournament import wire
from referee.tournament.names import Names
from referee.tournament.organiser import advanced, proposal
from referee.tournament.rules import TOURNAMENT, State
from referee.tournament.rules.scoring import Row, standings, standings_text
from referee.tournament.words import told_broken, why_lines
from referee.v1 import event_pb2
from referee.v1 import event_service_pb2 as pb

_NOBODY = Names({})


def question(position: event_pb2.EventPosition, round_: int = 0) -> bytes:
    """Return what a worker is asked of an event. ``round_``: the standings after it; 0: as it is."""
    return round_.to_bytes(4, "big") + position.SerializeToString()


def answers(method: str, data: bytes, _: float) -> Iterator[bytes]:
    """Yield the one answer. Raise ``BadQuestion`` with the awaited act, if nothing can be paired."""
    state = wire.state_of(event_pb2.EventPosition.FromString(data[4:]))
    if method == "GetStandings":
        yield _standings(state, int.from_bytes(data[:4], "big")).SerializeToString()
    else:
        yield _pairing(state).SerializeToString()


def _standings(state: State, round_: int) -> pb.GetStandingsResponse:
    if round_:
        state.rounds = state.rounds[:round_]
    response = pb.GetStandingsResponse(round=len(state.rounds), tie_breaks=wire.terms_message(state.terms).tie_breaks)
    if state.key:  # before the draw nothing decides among equals
        rows = standings(state)
        response.standings.extend(map(_standing, rows))
        response.hash = sha256(standings_text(rows).encode()).digest()
    return response


def _standing(row: Row) -> pb.Standing:
    fractions = [f"{each.numerator}/{each.denominator}" for each in row.tie_breaks]
    return pb.Standing(place=row.place, number=row.number, points=row.points, tie_breaks=fractions)


def _pairing(state: State) -> pb.ProposePairingResponse:
    try:
        ahead = advanced(state)
        made = proposal(ahead)
    except RulesError as error:
        raise BadQuestion(told_broken(error.violations), awaited="the end of the round") from None
    except InputError as error:
        raise BadQuestion(str(error), awaited=error.expected) from None
    move = wire.CODECS[TOURNAMENT.version].encode_move(made, state.terms)
    response = pb.ProposePairingResponse(move=move, why=why_lines(ahead, made, _NOBODY))
    response.pairing.CopyFrom(signed_pb2.Move.FromString(move).pair)
    return response
