"""The codec of every (rules id, version): between a game's values and the exact bytes that are signed."""

from __future__ import annotations

from typing import Any, Protocol

from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from referee.games import registry
from referee.games.game import UnknownRules


class Codec(Protocol):
    """Decoders are strict and raise ``referee.wire.strict.MalformedError``; encoders give the one encoding."""

    def decode_options(self, data: bytes) -> Any: ...
    def encode_options(self, options: Any) -> bytes: ...
    def decode_components(self, data: bytes) -> Any: ...
    def encode_components(self, components: Any) -> bytes: ...
    def decode_move(self, data: bytes, components: Any) -> Any: ...
    def encode_move(self, move: Any, components: Any) -> bytes: ...
    def decode_outcome(self, data: bytes, components: Any) -> Any: ...
    def encode_outcome(self, outcome: Any, components: Any) -> bytes: ...
    def position(self, state: Any) -> Message:
        """Return the game's own Position message."""
        ...

    def signed_file(self) -> Any:
        """Return the descriptor of the proto file that holds the game's signed messages."""
        ...


def codec(rules_id: str, version: int) -> Codec:
    """Return what ``CODECS`` of the game's module has for this version. Raise ``UnknownRules``."""
    codecs: dict[int, Codec] = registry.part(__package__, rules_id).CODECS
    try:
        return codecs[version]
    except KeyError:
        raise UnknownRules(f"no codec for {rules_id!r} version {version}") from None


def message_of_components(codec: Codec) -> Message:
    """Return an empty message of the game's components, which the log calls ``Tables``."""
    return GetMessageClass(codec.signed_file().message_types_by_name["Tables"])()


def components_json(codec: Codec) -> str:
    """Return the version's own components, with the names that the message has for its fields."""
    message = message_of_components(codec)
    message.ParseFromString(codec.encode_components(None))
    return json_format.MessageToJson(message, preserving_proto_field_name=True)
