"""A game's options and components as JSON: what there is, and what was meant."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from referee.cli.failure import EXIT_USAGE, Failure
from referee.games import registry
from referee.notation.errors import cut
from referee.notation.options import Option, OptionError, options_of
from referee.wire import strict
from referee.wire.components import default_json, message_of
from referee.wire.registry import Codec, codec

_AGE_ORDER = "age_order"


def options_of_games() -> str:
    """Return every game's options, for a help text."""
    games = []
    for rules_id in registry.names():
        known = _known(_codec(rules_id)).values()
        games.append(f"{rules_id}: {', '.join(f'{option.name} ({option.expected})' for option in known)}")
    return "; ".join(games)


def options(rules_id: str, before: bytes, text: str | None, age_order: str | None) -> bytes:
    """Return the game's options, encoded: those of ``before`` with what JSON and words change. Raise ``Failure``."""
    wire = _codec(rules_id)
    known = _known(wire)
    given = {} if text is None else {name: _read(known, name, value) for name, value in _object(text).items()}
    if age_order is not None:
        given[_AGE_ORDER] = _ages(rules_id, known, age_order)
    return wire.encode_options(replace(wire.decode_options(before), **given))


def components(rules_id: str, file: Path, word: str = "") -> bytes:
    """Return the game's components, encoded, from a file that has them as JSON. Raise ``Failure``.

    ``word``: what names the file in the error, if it is not the option.
    """
    word = word or f"--components {file}"
    if not registry.get(rules_id).declares_components:
        raise Failure(f"{word}: {rules_id} is always played with its own", EXIT_USAGE)
    wire = _codec(rules_id)
    message = message_of(wire)
    try:
        json_format.Parse(file.read_text(encoding="utf-8"), message)
        wire.decode_components(data := strict.encode(message))
    except OSError as error:
        raise Failure(f"{word}: {error.strerror}", EXIT_USAGE) from None
    except UnicodeDecodeError:
        raise Failure(f"{word}: not UTF-8", EXIT_USAGE) from None
    except json_format.ParseError as error:
        known = ", ".join(message.DESCRIPTOR.fields_by_name)
        raise Failure(
            f"{word}: expected {known} as --show-components prints them ({_cause(error)})", EXIT_USAGE
        ) from None
    except strict.MalformedError as error:
        where = f"{error.path}: " if error.path else ""
        raise Failure(f"{word}: {where}{error.what}; expected {error.expected}", EXIT_USAGE) from None
    return data


def _cause(error: json_format.ParseError) -> str:
    """Return the first thing that protobuf says of it: its error has nothing but words."""
    return cut(" ".join(str(error).split()).partition(" Available Fields")[0])


def default_components(rules_id: str) -> str:
    """Return the game's default components as JSON, in the form that ``components`` reads."""
    return default_json(_codec(rules_id))


def _codec(rules_id: str) -> Codec:
    return codec(rules_id, registry.get(rules_id).version)


def _known(wire: Codec) -> Mapping[str, Option]:
    return options_of(type(wire.decode_options(b"")))


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Failure(f"--options: not JSON ({error})", EXIT_USAGE) from None
    if not isinstance(found, dict):
        raise Failure("--options: expected a JSON object, such as '{\"max_turns\": 200}'", EXIT_USAGE)
    return found


def _read(known: Mapping[str, Option], name: str, value: Any) -> Any:
    if name not in known:
        raise Failure(f"--options: no option {cut(name)!r}; expected some of {', '.join(known)}", EXIT_USAGE)
    try:
        return known[name].read(value)
    except OptionError as error:
        shown = cut(json.dumps(value))
        raise Failure(f"--options: {name} is {shown}; expected {error.expected}", EXIT_USAGE) from None


def _ages(rules_id: str, known: Mapping[str, Option], age_order: str) -> Any:
    if _AGE_ORDER not in known:
        raise Failure(f"--age-order: {rules_id} does not ask for the seats' ages", EXIT_USAGE)
    try:
        return known[_AGE_ORDER].parse(age_order.replace(",", " "))
    except OptionError:
        raise Failure(f"--age-order {age_order!r}: expected seats, such as 2,0,1", EXIT_USAGE) from None
