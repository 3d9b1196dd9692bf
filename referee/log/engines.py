"""Where the log finds the rules and the codecs of a game. Knows no game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from referee.games import registry as games
from referee.games.game import Game, UnknownRules
from referee.log.errors import Code, LogError
from referee.wire import registry as codecs
from referee.wire.registry import Codec


@dataclass(frozen=True, slots=True)
class Engines:
    """Both registries; tests bring their own."""

    game: Callable[[str, int], Game]
    codec: Callable[[str, int], Codec]

    def get(self, rules_id: str, version: int) -> tuple[Game, Codec]:
        """Raises ``LogError`` (``UNSUPPORTED``)."""
        try:
            return self.game(rules_id, version), self.codec(rules_id, version)
        except UnknownRules as error:
            raise LogError(Code.UNSUPPORTED, f"rules {rules_id!r} version {version}: {error}", entry=0) from None


def installed() -> Engines:
    """The games of this installation."""
    return Engines(games.get, codecs.codec)
