"""The part of a game in progress that is the same in every game."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Self

from referee.games.game import Fact
from referee.games.values import Copied


class StateBase(Copied):
    """The base of the ``State`` of a game without secrets. The game gives ``copy`` and ``encode``."""

    __slots__ = ()

    def copy(self) -> Self:
        """Return an independent state."""
        raise NotImplementedError

    def comments(self) -> tuple[str, ...]:
        """Return nothing: unusual acts are forbidden in this game."""
        return ()

    def course(self) -> Mapping[str, Fact]:
        """Return nothing: the game's result says how far it has come."""
        return {}

    def encode(self) -> bytes:
        """Return the canonical encoding."""
        raise NotImplementedError

    def observation(self, seat: int | None) -> Self:  # noqa: ARG002 - everybody may see all of it
        """Return all of it, to any seat: the only hidden part, the order of undrawn pieces, is not in a state."""
        return self.copy()

    def digest(self) -> bytes:
        """Return the SHA-256 of ``encode()``."""
        return sha256(self.encode()).digest()
