"""What the page of a game's rules says beside its catalogue: a module a game, named by its rules id.

``CITATIONS`` says what the citations name; ``appendix`` are the lines after the rules: components and options. On the
page of the table's rules ``STAND_IN`` says what TBL-2 enters, and ``RULINGS`` for every constraint why a move that
breaks it may stand, or may not (TBL-7).
"""

from __future__ import annotations

from collections.abc import Mapping

from referee.notation.options import Option, options_of, plain, written


def options_table(rules_id: str, kind: type, meanings: Mapping[str, tuple[str, str]]) -> list[str]:
    """Lines of Markdown. ``meanings``: of each option the rules that it changes, and what it means."""
    known = options_of(kind)
    assert list(known) == list(meanings)
    return [
        "## Options",
        "",
        f"A game is opened with them (`referee new --options`, message `referee.{rules_id}.v1.Options`); the defaults",
        "are the decisions above. Names and values are the same in texts, in `referee inspect`, at the desk and in",
        "reports.",
        "",
        "| rule | option | values | meaning |",
        "|---|---|---|---|",
        *(f"| {rules} | `{name}` | {_values(known[name])} | {words} |" for name, (rules, words) in meanings.items()),
        "",
    ]


def _values(option: Option) -> str:
    """``full` (default), `one_less``."""
    default = written(plain(option.default))
    if option.choices:
        return ", ".join(f"`{word}`" + (" (default)" if word == default else "") for word in option.choices)
    return option.expected + (f" (default {default})" if default else "")
