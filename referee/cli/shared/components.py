"""A game's components as JSON: its own file of them, and the default."""

from __future__ import annotations

from pathlib import Path

from google.protobuf import json_format

from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.games import registry
from referee.text.notation.violations import cut
from referee.wire import strict
from referee.wire.registry import Codec, codec, components_json, message_of_components


def components(rules_id: str, file: Path, word: str = "") -> bytes:
    """Return the game's components, encoded, from a file that has them as JSON. Raise ``Failure``.

    ``word``: what names the file in the error, if it is not the option.
    """
    word = word or f"--components {file}"
    if not registry.get(rules_id).declares_components:
        raise Failure(f"{word}: {rules_id} is always played with its own", EXIT_USAGE)
    wire = _codec(rules_id)
    message = message_of_components(wire)
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
    return components_json(_codec(rules_id))


def _codec(rules_id: str) -> Codec:
    return codec(rules_id, registry.get(rules_id).version)
