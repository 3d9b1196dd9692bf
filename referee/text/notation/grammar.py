"""The grammar of each game's text, the errors of a text that does not fit it, and the common part of the games' texts.

Every game has short forms of moves, and marks such as ``against KDO-14`` for moves that break rules and stand, as an
arbiter let them (TBL-7). A mark names exactly the rules that are broken, so a reader need not check the rest of the
text.

Knows no game.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr

from referee.games import registry
from referee.games.game import Violation
from referee.text.notation.violations import Kind, NotationError, cut, either
from referee.text.words.catalogue import Said

COMMON: Final = Path(__file__).with_name("text.lark")
MAX_CHARACTERS: Final = 1 << 19
"""The most characters of a text; ten times the length of a long game."""
MAX_LINE: Final = 1 << 13
"""Characters of a line; twice what the longest position takes."""

_TERMINALS: Final = {
    "NAME": "a name",
    "STRING": "a value in quotes",
    "INT": "a number",
    "CELL": "a cell, such as 1,-2",
    "RULE": "the id of a rule",
    "HOW": "how, such as flag",
    "NEGATIVE": "a number",
    "TIME": "a time, such as 1m30s",
    "_NL": "the end of the line",
    "$END": "the end of the text",
    "<END-OF-FILE>": "the end of the text",
}
_OF_THE_TABLE: Final = frozenset(
    {"RESIGN", "AGREE", "PROTEST", "APPEAL", "SCRIBE", "REFEREE", "ORGANISER", "ARBITER", "BACK"}
)
"""The terminals that can begin an act of the table in place of every move: listed only if nothing else is expected."""
_WORD: Final = re.compile(r'"[^"\r\n]*"?|[^\s"\[\](){};:]+|.', re.DOTALL)
_HIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""The characters that do not show, or make a line look like two, or turn it around: readers would not see what the
parser reads."""
_WORD_BEFORE: Final = re.compile(r"[^\s\"\[\](){};:]*\Z")
_LONGEST_WORD: Final = 40
"""Characters before a fault in which its word is looked for to begin."""


class _Apart:
    """Between the lexer and the parser: two words, or numbers, need a blank between them."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        before = None
        for token in stream:
            begins = token[0].isalnum() or token[0] == "-"
            if before is not None and before.end_pos == token.start_pos and before[-1].isalnum() and begins:
                raise syntax_error(token, f"{shown(token)} directly after {shown(before)}", "a blank between them")
            before = token
            yield token


class Grammar:
    """The grammar of one game's texts."""

    def __init__(self, rules_id: str) -> None:
        """Raise ``UnknownRules``."""
        game = registry.part(__package__, rules_id, "text")
        own = Path(game.__file__).with_name("text.lark").read_text(encoding="utf-8")
        self._terminals: dict[str, str] = {**_TERMINALS, **game.TERMINALS}
        self._rules = f"{COMMON.read_text(encoding='utf-8')}\n{own}"
        self._parsers: dict[str, Lark] = {}

    def _parser(self, start: str) -> Lark:
        """Return the parser of a whole text, or of a part: each takes as long to make as a command needs to start."""
        if start not in self._parsers:
            self._parsers[start] = Lark(
                self._rules, start=start, parser="lalr", propagate_positions=True, postlex=_Apart()
            )
        return self._parsers[start]

    def parse(self, text: str, start: str = "text") -> Tree[Token]:
        """Raise ``NotationError``."""
        if len(text) > MAX_CHARACTERS:
            raise NotationError(Kind.SYNTAX, (1, 1), "the text is too long", f"at most {MAX_CHARACTERS} characters")
        for number, line in enumerate(text.split("\n"), start=1):
            if len(line) > MAX_LINE:
                where = number, MAX_LINE + 1
                raise NotationError(Kind.SYNTAX, where, "the line is too long", f"at most {MAX_LINE} characters")
        if hidden := _HIDDEN.search(text):
            where, name = place(text, hidden.start()), f"U+{ord(hidden[0]):04X}"
            raise NotationError(Kind.SYNTAX, where, f"{name}, which does not show", "characters that do")
        try:
            return self._parser(start).parse(text)
        except UnexpectedInput as error:
            raise self._told(error, text, start) from None

    def _told(self, error: UnexpectedInput, text: str, start: str) -> NotationError:
        names: Iterable[str] = ()
        at = len(text)
        if isinstance(error, UnexpectedToken):
            names = error.accepts or error.expected
            if error.token.type != "$END":
                at = _begin(text, error.token.start_pos or 0)
        elif isinstance(error, UnexpectedCharacters):
            position: Any = error.pos_in_stream
            names, at = error.allowed or (), _begin(text, position)
        found = _WORD.match(text, at)
        ends = found is None or found[0] in "\r\n"
        what = f"found {shown(found[0])}" if found and not ends else f"the {'line' if found else 'text'} ends"
        return NotationError(Kind.SYNTAX, place(text, at), what, self._expected(names, start), is_unfinished=ends)

    def _expected(self, names: Iterable[str], start: str) -> str:
        """Return the words first, then what is described, each once."""
        words, described = set(), set()
        named = set(names)
        for name in named - _OF_THE_TABLE or named:
            if name in self._terminals:
                described.add(self._terminals[name])
                continue
            pattern = self._parser(start).get_terminal(name).pattern
            if isinstance(pattern, PatternStr):
                words.add(pattern.value)
        return either([*sorted(words), *sorted(described)])


def _begin(text: str, at: int) -> int:
    """Return where the word begins that a character is in."""
    if _WORD_BEFORE.match(text[at]) is None:
        return at
    before = _WORD_BEFORE.search(text, max(0, at - _LONGEST_WORD), at)
    return before.start() if before else at


@cache
def grammar_of(rules_id: str) -> Grammar:
    """Raise ``UnknownRules``."""
    return Grammar(rules_id)


def place(text: str, at: int) -> tuple[int, int]:
    """Return line and column of a character."""
    before = text[:at]
    return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1


def shown(text: str) -> str:
    """Return the part of the found text that an error repeats."""
    return repr(cut(text))


def syntax_error(token: Any, what: str, expected: str) -> NotationError:
    """Return the error about a token, or a tree."""
    return NotationError(Kind.SYNTAX, place_of(token), what, expected)


def place_of(token: Any) -> tuple[int, int]:
    """Return line and column of a token, or a tree."""
    meta = token.meta if isinstance(token, Tree) else token
    return meta.line, meta.column


def numbers(tokens: Iterable[Any]) -> tuple[int, ...]:
    """Return the numbers of INT tokens."""
    return tuple(map(int, tokens))


def cell(token: str) -> tuple[int, int]:
    """Return the cell of a CELL or a pair of dice."""
    x, _, y = token.partition(",")
    return int(x), int(y)


def rule_ids(violations: Sequence[Violation]) -> tuple[str, ...]:
    """Return the ids of the rules that are broken, ascending and without repeats."""
    return tuple(sorted({violation.rule_id for violation in violations}))


def against(violations: Sequence[Violation]) -> str:
    """Return the mark with a blank before it; nothing where no rule is broken."""
    return " ".join((" against", *rule_ids(violations))) if violations else ""


def check_against(mark: Any, words: str, violations: Sequence[Violation], waivable: frozenset[str]) -> None:
    """Check that the marked move breaks exactly the rules that the mark names, and may stand.

    ``words``: the marked move, for the error; ``waivable``: the rules that the game's arbiters may waive. Raises
    ``NotationError``.
    """
    told, broken = tuple(map(str, mark.children)), rule_ids(violations)
    if told != broken:
        expected = against(violations).strip() or "nothing, as no rule is broken"
        raise NotationError(
            Kind.ILLEGAL, place_of(mark), f"{words}: against {' '.join(told)}", expected, violations=violations
        )
    if fixed := sorted({*broken} - waivable):
        what = f"{words}: a move that breaks {', '.join(fixed)} cannot stand (TBL-7)"
        expected = f"only {', '.join(sorted(waivable))}"
        raise NotationError(Kind.ILLEGAL, place_of(mark), what, expected, violations=violations)


_T = TypeVar("_T")

_MOST_NAMED: Final = 6


def the_only(tree: Any, written: str, moves: Sequence[_T], words: Sequence[str]) -> _T:
    """Return the one of the legal moves that is meant. ``words``: those of the moves. Raise ``NotationError``."""
    if not moves:
        raise NotationError(Kind.ILLEGAL, place_of(tree), Said("line.no_legal", {"move": written}))
    if len(moves) > 1:
        named = "; ".join(words[:_MOST_NAMED]) + ("; …" if len(moves) > _MOST_NAMED else "")
        raise NotationError(Kind.AMBIGUOUS, place_of(tree), f"{written} can be {len(moves)} moves", named)
    return moves[0]
