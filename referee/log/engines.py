"""Rules, codec and proofs of all that a log can be about: of any game, and of tournaments. Knows no game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from referee.games import registry as games
from referee.games.game import Game, UnknownRules
from referee.log.errors import Code, LogError
from referee.wire import registry as codecs
from referee.wire.certificates import registry as certificates
from referee.wire.certificates.registry import Provable
from referee.wire.registry import Codec

TOURNAMENT_ID: Final = "event"
"""The rules id of tournaments, which are imported for their logs only."""


def _nothing(rules_id: str, version: int) -> None:
    """Return None: nothing can be proved of the game."""


@dataclass(frozen=True, slots=True)
class Engines:
    """The registries; tests bring their own."""

    game: Callable[[str, int], Game]
    codec: Callable[[str, int], Codec]
    provable: Callable[[str, int], Provable | None] = _nothing

    def get(self, rules_id: str, version: int) -> tuple[Game, Codec]:
        """Raise ``LogError`` (``UNSUPPORTED``)."""
        try:
            return self.game(rules_id, version), self.codec(rules_id, version)
        except UnknownRules as error:
            raise LogError(Code.UNSUPPORTED, f"rules {rules_id!r} version {version}: {error}", entry=0) from None


def installed() -> Engines:
    """Return all that this installation can read: games and tournaments."""
    return Engines(_rules, _codec, certificates.provable)


def _rules(rules_id: str, version: int) -> Game:
    if rules_id == TOURNAMENT_ID:
        from referee.tournament.rules import TOURNAMENT  # noqa: PLC0415 - most logs are of games

        if version in {0, TOURNAMENT.version}:
            return TOURNAMENT
    found: Game = games.get(rules_id, version)
    return found


def _codec(rules_id: str, version: int) -> Codec:
    if rules_id == TOURNAMENT_ID:
        from referee.tournament.wire import CODECS  # noqa: PLC0415 - likewise

        return CODECS[version]
    return codecs.codec(rules_id, version)
