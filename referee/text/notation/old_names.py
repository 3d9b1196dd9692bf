"""Names that headers and questions had before: what was written with them is still read, and nothing writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from referee.text.notation.options import written

_YES_OR_NO: Final = {"no": "false", "yes": "true"}


def _switch(name: str, off: str, on: str) -> tuple[str, Mapping[str, str]]:
    """Return what was ``yes`` or ``no`` in a header, ``true`` or ``false`` in a question."""
    return name, {"no": off, "false": off, "yes": on, "true": on}


_OPTIONS: Final[Mapping[str, Mapping[str, tuple[str, Mapping[str, str]]]]] = {
    "alhambra": {
        "loop_one_less": _switch("loop_rule", "full", "one_less"),
        "end_when_bag_empty": _switch("end_rule", "market_unfilled", "bag_empty"),
        "slot_currencies": ("slot_currencies", {"0": "denar", "1": "dirham", "2": "ducat", "3": "guilder"}),
    },
    "kingdomino": {name: (name, _YES_OR_NO) for name in ("harmony", "mighty_duel", "wider_offer", "dynasty")},
    "rollwrite": {"against": _switch("solo", "points", "against")},
}
"""Options by their old names: what each is called today, and today's words for its old ones."""

_HEADERS: Final = {("kingdomino", "Dominoes"): "Components", ("rollwrite", "Sheet"): "Components"}


def renamed() -> Iterator[tuple[str, str]]:
    """Yield every old name of a header, with today's."""
    yield from ((old, today) for names in _OPTIONS.values() for old, (today, _) in names.items() if old != today)
    yield from ((old, today) for (_, old), today in _HEADERS.items())


def header(rules_id: str, name: str) -> str:
    """Return what the header of a text is called today."""
    return _HEADERS.get((rules_id, name)) or _OPTIONS[rules_id].get(name, (name,))[0]


def taken_from(rules_id: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Take the options with old names out of fields of a question, among which they once stood."""
    return {name: fields.pop(name) for name in _OPTIONS[rules_id] if name in fields}


def option(rules_id: str, name: str, value: Any) -> tuple[str, Any]:
    """Return an option and its value, as a text or as JSON has it, as they are written today."""
    today, words = _OPTIONS[rules_id].get(name, (name, {}))
    if not isinstance(value, str | bool):
        return today, value
    before = written(value)
    after = " ".join(words.get(word, word) for word in before.split(" "))
    return today, value if after == before else after
