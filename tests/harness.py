"""The harness, by the name that tests know it by."""

from __future__ import annotations

from referee.harness import Choose, Played, Shuffler, by_kind, check_game, evenly

__all__ = ["Choose", "Played", "Shuffler", "by_kind", "check_game", "evenly"]
