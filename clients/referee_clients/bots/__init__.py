"""Players: one that plays every game at random, and for each game a module with better ones in ``BOTS``."""

from __future__ import annotations

from referee_clients.bots.bot import (
    RESIGN,
    Bot,
    Ending,
    Happening,
    MakeBot,
    Proposal,
    Protest,
    Table,
    TakeBack,
    UnknownBot,
)
from referee_clients.bots.loading import load, maker, names

__all__ = [
    "RESIGN",
    "Bot",
    "Ending",
    "Happening",
    "MakeBot",
    "Proposal",
    "Protest",
    "Table",
    "TakeBack",
    "UnknownBot",
    "load",
    "maker",
    "names",
]
