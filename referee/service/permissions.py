"""Who may call what: one row for each method. A method without a row cannot be served."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from referee.v1 import game_service_pb2, rules_service_pb2


class Role(StrEnum):
    """What a token makes of its bearer. Who brings none is a spectator."""

    ORGANISER = "organiser"
    """Opens and aborts games."""
    ARBITER = "arbiter"
    """Rules on disputes."""
    SCRIBE = "scribe"
    """Enters what happens at a physical table, of one game."""
    SEAT = "seat"
    """Plays one seat of one game."""
    SPECTATOR = "spectator"
    """Watches."""
    AUDITOR = "auditor"
    """Reads logs."""


EVERYBODY: Final = frozenset(Role)
ORGANISERS: Final = frozenset({Role.ORGANISER})
AUTHORS: Final = frozenset({Role.SEAT, Role.SCRIBE, Role.ARBITER})
"""Who signs acts. Whose acts they may send is asked of each intent."""

PERMISSIONS: Final = {
    "referee.v1.GameService/CreateGame": ORGANISERS,
    "referee.v1.GameService/GetGame": EVERYBODY,
    "referee.v1.GameService/ListGames": EVERYBODY,
    "referee.v1.GameService/SubmitIntent": AUTHORS,
    "referee.v1.GameService/WatchGame": EVERYBODY,
    "referee.v1.GameService/ListLegalMoves": EVERYBODY,
    "referee.v1.GameService/GetLog": EVERYBODY,
    "referee.v1.GameService/AbortGame": ORGANISERS,
    "referee.v1.RulesService/ListRules": EVERYBODY,
    "referee.v1.RulesService/GetCatalogue": EVERYBODY,
    "referee.v1.RulesService/GetTables": EVERYBODY,
}

SERVICES: Final = (
    game_service_pb2.DESCRIPTOR.services_by_name["GameService"],
    rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"],
)
"""Everything of ours that is served; health and reflection come beside it and are open to everybody."""
