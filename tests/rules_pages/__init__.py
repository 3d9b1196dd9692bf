"""What the page of a game's rules says beside its catalogue: a module per game, named by its rules id.

``CITATIONS`` explains the citations; ``appendix`` returns the lines after the rules: components and options. On the
page of the table's rules, ``STAND_IN`` describes the move that TBL-2 enters, and ``RULINGS`` says for every constraint
why a move that breaks it may stand, or may not (TBL-7).
"""

from __future__ import annotations

from collections.abc import Mapping

from referee.text.notation.options import Option, options_of, plain, written


def options_table(rules_id: str, kind: type, meanings: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return lines of Markdown. ``meanings``: for each option, the rules that it changes and its meaning."""
    known = options_of(kind)
    assert list(known) == list(meanings)
    return [
        "## Options",
        "",
        f"Set them when you open a game (`referee new --options`, message `referee.{rules_id}.v1.Options`). The",
        "defaults are the decisions above. Names and values are the same in texts, in `referee inspect`, at the desk",
        "and in reports.",
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
