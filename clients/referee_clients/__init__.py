"""Players and their tools: write a ``choose``, call ``play``, and the seat is taken, signed for and checked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    **dict.fromkeys(("Join", "JoinError", "format_join", "format_link", "parse_join"), "join"),
    **dict.fromkeys(("BadMove", "BotFailed", "ClientError", "Denied", "Distrust", "Unreachable"), "sdk.errors"),
    **dict.fromkeys(("GameResult", "play", "play_all", "play_async"), "sdk.player"),
}

if not TYPE_CHECKING:  # or any name would do

    def __getattr__(name: str) -> Any:
        """Import what is asked for: a command that reads a file would pay for gRPC and all of a player."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
