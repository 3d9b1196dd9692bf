"""The parts of which every command is made: groups of commands, panels of options, the words that were given."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from inspect import cleandoc
from typing import Annotated, Any, Final

from cyclopts import App, ArgumentCollection, Group, Parameter

ARGUMENTS: Final = Group("Arguments", sort_key=0, default_parameter=Parameter(allow_leading_hyphen=False))
"""No argument begins with a hyphen, unless it is a number: such a word is an unknown option."""
OPTIONS: Final = Group("Options", sort_key=1)
Given = Annotated[ArgumentCollection, Parameter(parse=False)]
"""The words that were given, for a command that needs more than their values."""


def _default(value: object) -> str | None:
    """Return a default as the help shows it; None if it says nothing."""
    if value in (None, False, ""):
        return None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or None
    return str(value)


_WORD: Final = Parameter(negative=(), show_default=_default, allow_leading_hyphen=True, allow_repeating=True)
"""Flags have no opposite, an option may have any value, and the last one counts."""


def _no_option(_: object, word: object) -> None:
    if str(word).startswith("-") and str(word) != "-":
        raise ValueError("There is no such option.")


OR_HYPHEN: Final = Parameter(allow_leading_hyphen=True, validator=_no_option)
"""An argument that may be ``-``, for standard input."""


def word_of(kind: type[StrEnum]) -> Parameter:
    """Return what makes an option one of these words, which are not the names of the members."""
    return Parameter(converter=lambda _, tokens: kind(tokens[0].value), choices=[*kind])


def group(name: str, about: str, **more: Any) -> App:
    """Return a command that has commands. ``about``: its help."""
    return App(
        name=name,
        help=cleandoc(about),
        help_flags="--help",
        help_format="markdown",
        default_parameter=_WORD,
        group_arguments=ARGUMENTS,
        group_parameters=OPTIONS,
        **more,
    )


def options_typed(given: ArgumentCollection) -> list[str]:
    """Return the names of the options on the command line, such as ``--games``."""
    typed = [each.name for each in given if any(token.source == "cli" for token in each.tokens)]
    return [name for name in typed if name.startswith("--")]
