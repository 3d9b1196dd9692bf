"""Players and their tools: write a ``choose``, call ``play``, and the seat is taken, signed for and checked."""

from __future__ import annotations

from referee_clients.join import Join, JoinError, format_join, format_link, parse_join
from referee_clients.sdk.errors import BadMove, BotFailed, ClientError, Denied, Distrust, Unreachable
from referee_clients.sdk.player import GameResult, play, play_all, play_async

__all__ = [
    "BadMove",
    "BotFailed",
    "ClientError",
    "Denied",
    "Distrust",
    "GameResult",
    "Join",
    "JoinError",
    "Unreachable",
    "format_join",
    "format_link",
    "parse_join",
    "play",
    "play_all",
    "play_async",
]
