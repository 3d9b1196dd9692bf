"""The parts of which every command is made: groups of commands, panels of options, the words that were given."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from inspect import cleandoc
from typing import Annotated, Any, Final

from cyclopts import App, ArgumentCollection, CoercionError, Group, Parameter, Token

ARGUMENTS: Final = Group("Arguments", sort_key=0)
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


_WORD: Final = Parameter(negative=(), show_default=_default, allow_repeating=True)
"""Flags have no opposite, and the last value of an option counts."""
_ANY_VALUE: Final = Parameter(allow_leading_hyphen=True)


def _no_option(_: object, word: object) -> None:
    if str(word).startswith("-") and str(word) != "-":
        raise ValueError("There is no such option.")


OR_HYPHEN: Final = Parameter(allow_leading_hyphen=True, validator=_no_option)
"""An argument that may be ``-``, for standard input."""


def word_of(kind: type[StrEnum]) -> Parameter:
    """Return what makes an option one of these words, which are not the names of the members."""

    def read(_: object, tokens: Sequence[Token]) -> StrEnum:
        try:
            return kind(tokens[0].value)
        except ValueError:
            what = f'"{tokens[0].value}". Choose from: {", ".join(kind)}.'
            raise CoercionError(msg=what, token=tokens[0]) from None

    return Parameter(converter=read, show_choices=False, metavar="|".join(kind))


class Commands(App):
    """A command, whose options may have any value. An argument begins with no hyphen: such a word is an option."""

    def assemble_argument_collection(self, **more: Any) -> ArgumentCollection:
        """Return the arguments and options."""
        found = super().assemble_argument_collection(**more)
        for each in found:
            if each.index is None:
                each.parameter = Parameter.combine(each.parameter, _ANY_VALUE)
        return found


def group(name: str, about: str, **more: Any) -> App:
    """Return a command that has commands. ``about``: its help."""
    return Commands(
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
