"""The error that a text is refused with, and violations of rules in words. Knows no game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from referee.games.game import Fact, Rule, Violation
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import ENGLISH, Phrase, Said, Words, in_language, languages, load, phrase

_SIDES: Final = "sides"
_VALUES: Final = ("value", "terrain", "type")
"""The beginnings of keys of values."""


def sentence(violation: Violation, rules: Mapping[str, Rule], say: Words = IN_ENGLISH) -> str:
    """Return ``ALH-A2 at 0,0 and 0,-1 (sides: N): "Where two tiles touch …"``; ``rules``: the catalogue by id.

    In another language the English text of the rule stands beside it, which decides.
    """
    words, rule = in_words(violation, rules, say), rules.get(violation.rule_id)
    return words if rule is None else f"{words} {original(rule, say)}".rstrip()


def in_words(violation: Violation, rules: Mapping[str, Rule], say: Words = IN_ENGLISH) -> str:
    """Return the same in its language alone, for where the English stands beside all of it."""
    words = violation.rule_id
    if violation.cells:
        words += say("violation.at", cells=say("and").join(f"{x},{y}" for x, y in violation.cells))
    if violation.facts:
        words += f" ({', '.join(_fact(name, fact, say) for name, fact in violation.facts.items())})"
    rule = rules.get(violation.rule_id)
    # In quotes, as it states the rule, and the event is the opposite.
    return words if rule is None else say("violation.rule", what=words, text=rule_text(rule, say))


def rule_text(rule: Rule, say: Words) -> str:
    """Return what the rule says; in English, where the language does not have it."""
    if say.language not in languages("rules"):
        return rule.text
    return str(load("rules", say.language).texts.get(rule.id, rule.text))


def original(rule: Rule, say: Words) -> str:
    """Return the English text of a rule, to stand beside a translation; empty where that is all there is."""
    return "" if rule_text(rule, say) == rule.text else say("original", text=rule.text)


def _fact(name: str, fact: Fact, say: Words) -> str:
    """Return ``found: not in hand``. A value that the catalogue does not have is a name or a number in any language."""
    value: Fact
    if name == _SIDES and say.language != ENGLISH:  # of which they are the initials
        value = ", ".join(say(f"side.{letter}") for letter in str(fact))
    else:
        value = next((say(key) for kind in _VALUES if (key := f"{kind}.{fact}") in say.texts), fact)
    return f"{say.texts.get(f'fact.{name}', name.replace('_', ' '))}: {value}"


_MOST_CHARACTERS: Final = 2000
"""The most characters of an error: rules have long texts, a line of mistakes is longer."""


class Kind(StrEnum):
    """The three ways in which a text can be wrong."""

    SYNTAX = "syntax"
    """The text does not fit the grammar, or names things that the game does not have."""
    ILLEGAL = "illegal"
    """The text says something that the rules forbid, or that is false."""
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
        """``words``: the words of the text that it is about. ``is_unfinished``: the text is wrong only because it ends.

        ``said``: its kind, if ``what`` is in English alone.
        """
        super().__init__(kind, where, what, expected)
        self.kind = kind
        self.line, self.column = where
        self._said = what, expected
        self._kind_said = said
        self.reason = cut(str(in_language(what, IN_ENGLISH)), _MOST_CHARACTERS)
        """The error without the words that it is about."""
        self.what = cut(f"{words}: {self.reason}", _MOST_CHARACTERS) if words else self.reason
        self.expected = cut(str(in_language(expected, IN_ENGLISH)), _MOST_CHARACTERS)
        self.violations = tuple(violations)
        self.is_unfinished = is_unfinished

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """The rules that an illegal line breaks: ascending, without repeats; none if it breaks no rule."""
        return tuple(sorted({violation.rule_id for violation in self.violations}))

    def moved(self, line: int, column: int) -> NotationError:
        """Return the same of a piece of a line that begins at this line and column."""
        self.line, self.column = line, self.column + column - 1
        return self

    def why(self, say: Words) -> str:
        """Return the fault and the expected text, in a language; in English, where there is no other."""
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
        """``word``: its name, such as ``protest-time``. ``what``: the fault, as it follows the name: ``: …``."""
        super().__init__(f"--{word}{what}")
        self.word = word
        self.what = str(what)
        self.phrase = phrase("{word}{what}", word=word, what=what) if isinstance(what, Phrase) else None
        """The error with the name before it, if it can be said in other languages."""
