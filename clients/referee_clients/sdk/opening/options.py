"""A game's options as JSON: what there is, and what was meant."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from referee.games import registry
from referee.text.notation.options import Option, OptionError, options_of
from referee.text.notation.violations import BadWord, cut
from referee.text.words.catalogue import phrase
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
    """Return the game's options, encoded: those of ``before`` with what JSON and words change. Raise ``BadWord``."""
    wire = _codec(rules_id)
    known = _known(wire)
    given = {} if text is None else {name: _read(known, name, value) for name, value in _object(text).items()}
    if age_order is not None:
        given[_AGE_ORDER] = _ages(rules_id, known, age_order)
    return wire.encode_options(replace(wire.decode_options(before), **given))


def choices_of(rules_id: str) -> dict[str, Any]:
    """Return what a form needs of a game: how many seats it can have, and what each option can be."""
    game = registry.get(rules_id)
    options = [
        {"name": each.name, "choices": each.choices, "is_flag": each.type is bool, "is_list": each.is_list}
        for each in _known(_codec(rules_id)).values()
    ]
    return {"seats": [game.min_seats, game.max_seats], "options": options}


def _codec(rules_id: str) -> Codec:
    return codec(rules_id, registry.get(rules_id).version)


def _known(wire: Codec) -> Mapping[str, Option]:
    return options_of(type(wire.decode_options(b"")))


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadWord("options", f": not JSON ({error})") from None
    if not isinstance(found, dict):
        raise BadWord("options", ": expected a JSON object, such as '{\"max_turns\": 200}'")
    return found


def _read(known: Mapping[str, Option], name: str, value: Any) -> Any:
    if name not in known:
        what = phrase(": no option {name}; expected some of {names}", name=repr(cut(name)), names=", ".join(known))
        raise BadWord("options", what)
    try:
        return known[name].read(value)
    except OptionError as error:
        shown = cut(json.dumps(value))
        what = phrase(": {name} is {found}; expected {expected}", name=name, found=shown, expected=error.expected)
        raise BadWord("options", what) from None


def _ages(rules_id: str, known: Mapping[str, Option], age_order: str) -> Any:
    if _AGE_ORDER not in known:
        raise BadWord("age-order", phrase(": {rules} does not ask for the seats' ages", rules=rules_id))
    try:
        return known[_AGE_ORDER].parse(age_order.replace(",", " "))
    except OptionError:
        what = phrase(" {found}: expected seats, such as 2,0,1", found=repr(age_order))
        raise BadWord("age-order", what) from None
