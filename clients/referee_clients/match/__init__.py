"""Games between bots without a referee: one of them, or a match of many, with limits, a journal and ratings."""

from __future__ import annotations

from referee_clients.match.game import IllegalMove, Outcome, SeededStream, play_game

__all__ = ["IllegalMove", "Outcome", "SeededStream", "play_game"]
