"""What is wrong with a text: where, what was found, what was expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from referee.games.game import Rule, Violation
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.sentences import sentence
from referee.text.words.catalogue import ENGLISH, Phrase, Said, Words, in_language, phrase

_MOST_CHARACTERS: Final = 2000
"""Of what an error says: rules have long texts, a line of mistakes is longer."""


class Kind(StrEnum):
    """The three ways in which a text can be wrong."""

    SYNTAX = "syntax"
    """It is not written as the grammar has it, or names what the game does not have."""
    ILLEGAL = "illegal"
    """It says what the rules forbid, or what is not so."""
    AMBIGUOUS = "ambiguous"
    """A short form that can mean several moves."""


class NotationError(Exception):
    """The first thing that is wrong. ``line`` and ``column`` count from 1; nothing behind them was read."""

    def __init__(
        self,
        kind: Kind,
        where: tuple[int, int],
        what: str | Said | Phrase,
        expected: str | Said | Phrase = "",
        violations: Sequence[Violation] = (),
        *,
        words: str = "",
        is_unfinished: bool = False,
        said: Said | None = None,
    ) -> None:
        """``words``: of the text, which it is about. ``is_unfinished``: only that the text does not go on is wrong.

        ``said``: of what kind it is, where ``what`` is in English alone.
        """
        super().__init__(kind, where, what, expected)
        self.kind = kind
        self.line, self.column = where
        self._said = what, expected
        self._kind_said = said
        self.reason = cut(str(in_language(what, IN_ENGLISH)), _MOST_CHARACTERS)
        """Without the words that it is about."""
        self.what = cut(f"{words}: {self.reason}", _MOST_CHARACTERS) if words else self.reason
        self.expected = cut(str(in_language(expected, IN_ENGLISH)), _MOST_CHARACTERS)
        self.violations = tuple(violations)
        self.is_unfinished = is_unfinished

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """Of what is illegal, the rules that it breaks: ascending, without repeats; none where it is no rule's."""
        return tuple(sorted({violation.rule_id for violation in self.violations}))

    def moved(self, line: int, column: int) -> NotationError:
        """Return the same of a piece of a line that begins at this line and column."""
        self.line, self.column = line, self.column + column - 1
        return self

    def why(self, say: Words) -> str:
        """Return what is wrong and what was expected, in a language; in English, where nothing else says it."""
        what, expected = (cut(str(in_language(part, say)), _MOST_CHARACTERS) for part in self._said)
        told = say("line.why", what=what, expected=expected) if expected else what
        if say.language == ENGLISH or not isinstance(self._said[0], str):
            return told
        kind = [self._kind_said.by(say)] if self._kind_said else []
        return " ".join([*kind, say("original", text=self.why(IN_ENGLISH))])

    def __str__(self) -> str:
        expected = f"; expected {self.expected}" if self.expected else ""
        return f"line {self.line}, column {self.column}: {self.kind}: {self.what}{expected}"


def cut(text: str, most: int = 40) -> str:
    """Return the text, or its beginning if it has more than ``most`` characters: as much as an error repeats."""
    return str(text) if len(text) <= most else text[: most - 1] + "…"


def illegal(
    where: tuple[int, int], words: str, violations: Sequence[Violation], rules: Mapping[str, Rule]
) -> NotationError:
    """Return what these words break. ``rules``: the catalogue by id."""
    reasons = "; ".join(sentence(violation, rules) for violation in violations)
    return NotationError(Kind.ILLEGAL, where, f"{words}: {reasons}", violations=violations)


def either(words: Iterable[str]) -> str:
    """Return ``a, b or c``."""
    *some, last = list(words) or [""]
    return f"{', '.join(some)} or {last}" if some else last


class BadWord(Exception):
    """A word of an organiser or an arbiter is not what it may be. As text, it begins with the command's option."""

    def __init__(self, word: str, what: str | Phrase) -> None:
        """``word``: its name, such as ``protest-time``. ``what``: what is wrong, as it follows the name: ``: …``."""
        super().__init__(f"--{word}{what}")
        self.word = word
        self.what = str(what)
        self.phrase = phrase("{word}{what}", word=word, what=what) if isinstance(what, Phrase) else None
        """What is wrong, with the name before it, where that can be said in other languages."""
