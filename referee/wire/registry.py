"""The codec of every (rules id, version): between a game's values and the exact bytes that are signed."""

from __future__ import annotations

from typing import Any, Final, Protocol

from google.protobuf.message import Message

from referee.games.game import UnknownRules
from referee.wire import alhambra


class Codec(Protocol):
    """Decoders are strict and raise ``referee.wire.strict.MalformedError``; encoders give the one encoding."""

    def decode_options(self, data: bytes) -> Any: ...
    def encode_options(self, options: Any) -> bytes: ...
    def decode_tables(self, data: bytes) -> Any: ...
    def encode_tables(self, tables: Any) -> bytes: ...
    def decode_move(self, data: bytes, tables: Any) -> Any: ...
    def encode_move(self, move: Any, tables: Any) -> bytes: ...
    def decode_outcome(self, data: bytes, tables: Any) -> Any: ...
    def encode_outcome(self, outcome: Any, tables: Any) -> bytes: ...
    def position(self, state: Any) -> Message:
        """The game's own Position message."""
        ...

    def signed_file(self) -> Any:
        """The descriptor of the proto file that holds the game's signed messages."""
        ...


_CODECS: Final[dict[tuple[str, int], Codec]] = {("alhambra", 1): alhambra.CODEC}


def codec(rules_id: str, version: int) -> Codec:
    """Raises ``UnknownRules``."""
    try:
        return _CODECS[rules_id, version]
    except KeyError:
        raise UnknownRules(f"no codec for {rules_id!r} version {version}") from None
