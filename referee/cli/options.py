"""A game's options and tables as JSON: what there is, from the game's own messages, and what was meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from referee.cli.arguments import cut
from referee.cli.failure import EXIT_USAGE, Failure
from referee.games import registry
from referee.wire import strict
from referee.wire.registry import codec

_AGE_ORDER = "age_order"


def options_of_games() -> str:
    """Every game's options, for a help text."""
    games = []
    for rules_id in registry.names():
        fields = _options(rules_id).DESCRIPTOR.fields
        games.append(f"{rules_id}: {', '.join(f'{field.name} ({_kind(field)})' for field in fields)}")
    return "; ".join(games)


def options(rules_id: str, data: bytes, text: str | None, age_order: str | None) -> Message:
    """The game's Options: those encoded in ``data``, then what the JSON and the words say. Raises ``Failure``."""
    message = _options(rules_id)
    message.ParseFromString(data)
    if text is not None:
        _set(message, _object(text))
    if age_order is not None:
        _set_age_order(rules_id, message, age_order)
    return message


def tables(rules_id: str, file: Path) -> bytes:
    """The game's Tables, encoded, from a file that has them as JSON. Raises ``Failure``."""
    if not registry.get(rules_id).declares_tables:
        raise Failure(f"--tables {file}: {rules_id} is always played with its own", EXIT_USAGE)
    message = _message(rules_id, "Tables")
    try:
        json_format.Parse(file.read_text(encoding="utf-8"), message)
        codec(rules_id, registry.get(rules_id).version).decode_tables(data := strict.encode(message))
    except OSError as error:
        raise Failure(f"--tables {file}: {error.strerror}", EXIT_USAGE) from None
    except UnicodeDecodeError:
        raise Failure(f"--tables {file}: not UTF-8", EXIT_USAGE) from None
    except json_format.ParseError as error:
        known = ", ".join(message.DESCRIPTOR.fields_by_name)
        raise Failure(
            f"--tables {file}: expected {known} as --show-tables prints them ({_cause(error)})", EXIT_USAGE
        ) from None
    except strict.MalformedError as error:
        where = f"{error.path}: " if error.path else ""
        raise Failure(f"--tables {file}: {where}{error.what}; expected {error.expected}", EXIT_USAGE) from None
    return data


def _cause(error: json_format.ParseError) -> str:
    """The first thing that protobuf says of it."""
    return cut(" ".join(str(error).split()).partition(" Available Fields")[0])


def default_tables(rules_id: str) -> str:
    """The game's default Tables as JSON, in the form that ``tables`` reads."""
    message = _message(rules_id, "Tables")
    message.ParseFromString(codec(rules_id, registry.get(rules_id).version).encode_tables(None))
    return json_format.MessageToJson(message, preserving_proto_field_name=True)


def _options(rules_id: str) -> Message:
    """The defaults."""
    return _message(rules_id, "Options")


def _message(rules_id: str, name: str) -> Message:
    wire = codec(rules_id, registry.get(rules_id).version)
    return GetMessageClass(wire.signed_file().message_types_by_name[name])()


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Failure(f"--options: not JSON ({error})", EXIT_USAGE) from None
    if not isinstance(found, dict):
        raise Failure("--options: expected a JSON object, such as '{\"max_turns\": 200}'", EXIT_USAGE)
    return found


def _set(message: Message, values: dict[str, Any]) -> None:
    """One after the other: what protobuf says of a whole message is for programmers."""
    fields = message.DESCRIPTOR.fields_by_name
    for name, value in values.items():
        if name not in fields:
            raise Failure(f"--options: no option {cut(name)!r}; expected some of {', '.join(fields)}", EXIT_USAGE)
        message.ClearField(name)
        try:
            json_format.ParseDict({name: value}, message)
        except json_format.ParseError:
            known = False
        else:
            known = _is_known(fields[name], getattr(message, name), value)
        if not known:
            shown = cut(json.dumps(value))
            raise Failure(f"--options: {name} is {shown}; expected {_kind(fields[name])}", EXIT_USAGE)


def _is_known(field: Any, found: Any, value: Any) -> bool:
    """Whether an option's value has a name: protobuf takes any number for one, and true for 1."""
    if field.enum_type is None:
        return True
    numbers, values = (found, value) if field.is_repeated else ([found], [value])
    named = field.enum_type.values_by_number
    return all(number in named for number in numbers) and not any(isinstance(each, bool) for each in values)


def _set_age_order(rules_id: str, message: Message, age_order: str) -> None:
    if _AGE_ORDER not in message.DESCRIPTOR.fields_by_name:
        raise Failure(f"--age-order: {rules_id} does not ask for the seats' ages", EXIT_USAGE)
    message.ClearField(_AGE_ORDER)
    try:
        json_format.ParseDict({_AGE_ORDER: [int(seat) for seat in age_order.split(",")]}, message)
    except (json_format.ParseError, ValueError):
        raise Failure(f"--age-order {age_order!r}: expected seats, such as 2,0,1", EXIT_USAGE) from None


def _kind(field: Any) -> str:
    """What an option can be."""
    if field.enum_type is not None:
        names = [value.name for value in field.enum_type.values if value.number]
        return f"a list of {', '.join(names)}" if field.is_repeated else " or ".join(names)
    if field.type == field.TYPE_BOOL:
        return "true or false"
    return "a list of numbers" if field.is_repeated else "a number"
