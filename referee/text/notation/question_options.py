"""The options that a question of ``referee inspect`` names. Knows no game."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from referee.text.notation import old_names
from referee.text.notation.options import OptionError, options_of
from referee.text.notation.strict_json import QueryError, shown

_T = TypeVar("_T")


def options_of_question(rules_id: str, kind: type[_T], given: dict[str, Any], known: Collection[str]) -> _T:
    """Return the game's options, of type ``kind``. Raise ``QueryError``.

    ``known``: the names of those that the answer depends on; a question has no others.
    """
    read: dict[str, Any] = {}
    for name, value in given.items():
        today, plain = old_names.option(rules_id, name, value)
        if today not in known:
            raise QueryError(f"options: unknown field {shown(name)}; expected {', '.join(sorted(known))}")
        if today in read:
            raise QueryError(f"options: {today} again, as {shown(name)}; expected each option once")
        try:
            read[today] = options_of(kind)[today].read(plain)
        except OptionError as error:
            raise QueryError(f"options.{today}: {shown(value)}; expected {error.expected}") from None
    return kind(**read)
