"""The components of a game as JSON, for people: its tiles, its dominoes or its sheet."""

from __future__ import annotations

from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from referee.wire.registry import Codec


def message_of(codec: Codec) -> Message:
    """Return an empty message of the game's components, which the log calls ``Tables``."""
    return GetMessageClass(codec.signed_file().message_types_by_name["Tables"])()


def default_json(codec: Codec) -> str:
    """Return the version's own components, with the names that the message has for its fields."""
    message = message_of(codec)
    message.ParseFromString(codec.encode_components(None))
    return json_format.MessageToJson(message, preserving_proto_field_name=True)
