"""The permissions to call: one row for each method. A method without a row cannot be served."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from referee.v1 import (
    access_service_pb2,
    adjudication_service_pb2,
    arbiter_service_pb2,
    event_service_pb2,
    game_service_pb2,
    rules_service_pb2,
    solver_service_pb2,
    status_service_pb2,
)


class Scope(StrEnum):
    """The rights of a token, beside reading, which needs none."""

    ORGANISE = "organise"
    """Open and abort games."""
    PLAY = "play"
    """Play the seats that are the principal's, or the one that the token is for."""
    SCRIBE = "scribe"
    """Enter what happens at a physical table."""
    ARBITER = "arbiter"
    """Rule on disputes."""
    AUDIT = "audit"
    """See the state of the referee, and the connected callers."""
    ADMIN = "admin"
    """Issue and revoke tokens."""
    GATEWAY = "gateway"
    """Name the caller that a call is for and is charged to; no right of its own."""


EVERYBODY: Final = frozenset[Scope]()
"""All callers, also without a token."""
ORGANISERS: Final = frozenset({Scope.ORGANISE})
ADMINS: Final = frozenset({Scope.ADMIN})
MANAGERS: Final = ORGANISERS | ADMINS
AUTHORS: Final = frozenset({Scope.PLAY, Scope.SCRIBE, Scope.ARBITER})
"""Scopes whose bearers sign acts. Whose acts they may send is checked for each intent."""
OVERSEERS: Final = frozenset({Scope.AUDIT, Scope.ORGANISE, Scope.ADMIN})
PLAYERS: Final = frozenset({Scope.PLAY, Scope.SCRIBE})

OBSERVERS: Final = OVERSEERS | {Scope.ARBITER}
"""Arbiters see less of it: the games that they may rule on."""
CALLERS: Final = frozenset({Scope.PLAY, Scope.SCRIBE, Scope.ORGANISE})
ARBITERS: Final = frozenset({Scope.ARBITER})
NAMERS: Final = frozenset({Scope.ORGANISE, Scope.PLAY})
ERASERS: Final = frozenset({Scope.ORGANISE, Scope.ARBITER})

KNOWN: Final = frozenset(Scope) - {Scope.GATEWAY}
"""Scopes of tokens with some purpose. Expensive calls need one, so that they can be limited per caller."""

PERMISSIONS: Final = {
    "referee.v1.GameService/CreateGame": ORGANISERS,
    "referee.v1.GameService/GetGame": EVERYBODY,
    "referee.v1.GameService/ListGames": EVERYBODY,
    "referee.v1.GameService/SubmitIntent": AUTHORS,
    "referee.v1.GameService/WatchGame": EVERYBODY,
    "referee.v1.GameService/PlayGame": PLAYERS,
    "referee.v1.GameService/WatchSeat": PLAYERS,
    "referee.v1.GameService/ListLegalMoves": EVERYBODY,
    "referee.v1.GameService/GetLog": EVERYBODY,
    "referee.v1.GameService/GetLogProof": EVERYBODY,
    "referee.v1.GameService/AbortGame": ORGANISERS,
    "referee.v1.GameService/GetNames": EVERYBODY,
    "referee.v1.GameService/NamePlayer": NAMERS,
    "referee.v1.ArbiterService/SubmitAct": AUTHORS,
    "referee.v1.ArbiterService/GetDocket": EVERYBODY,
    "referee.v1.ArbiterService/CallArbiter": CALLERS,
    "referee.v1.ArbiterService/AnswerCall": ARBITERS,
    "referee.v1.ArbiterService/EraseRemark": ERASERS,
    "referee.v1.EventService/CreateEvent": ORGANISERS,
    "referee.v1.EventService/ListEvents": EVERYBODY,
    "referee.v1.EventService/GetEvent": EVERYBODY,
    "referee.v1.EventService/GetStandings": EVERYBODY,
    "referee.v1.EventService/ProposePairing": KNOWN,
    "referee.v1.RulesService/ListRules": EVERYBODY,
    "referee.v1.RulesService/GetCatalogue": EVERYBODY,
    "referee.v1.RulesService/GetComponents": EVERYBODY,
    "referee.v1.StatusService/GetStatus": OBSERVERS,
    "referee.v1.StatusService/GetCallers": MANAGERS,
    "referee.v1.AccessService/IssueToken": ADMINS,
    "referee.v1.AccessService/RevokeToken": ADMINS,
    "referee.v1.AccessService/ListTokens": ADMINS,
    "referee.v1.SolverService/ProveMove": KNOWN,
    "referee.v1.SolverService/ExplainMove": KNOWN,
    "referee.v1.SolverService/FindBestTurn": KNOWN,
    "referee.v1.SolverService/FindLongestWall": KNOWN,
    "referee.v1.SolverService/FindBestKingdom": KNOWN,
    "referee.v1.SolverService/RebuildDistance": KNOWN,
    "referee.v1.SolverService/ProveDecided": KNOWN,
    "referee.v1.AdjudicationService/AdjudicateRecord": KNOWN,
    "referee.v1.AdjudicationService/ScorePosition": KNOWN,
    "referee.v1.AdjudicationService/ReportGame": KNOWN,
}
"""Any one of the scopes is enough."""

SERVICES: Final = (
    game_service_pb2.DESCRIPTOR.services_by_name["GameService"],
    rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"],
    status_service_pb2.DESCRIPTOR.services_by_name["StatusService"],
    access_service_pb2.DESCRIPTOR.services_by_name["AccessService"],
    arbiter_service_pb2.DESCRIPTOR.services_by_name["ArbiterService"],
    event_service_pb2.DESCRIPTOR.services_by_name["EventService"],
    adjudication_service_pb2.DESCRIPTOR.services_by_name["AdjudicationService"],
    solver_service_pb2.DESCRIPTOR.services_by_name["SolverService"],
)
"""Everything of ours that is served, the solver if there are workers for it; health and reflection come beside it and
are open to everybody."""
