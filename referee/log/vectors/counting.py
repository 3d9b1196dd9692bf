"""Counting files: how they are read, counted with the engine, and put to a foreign engine.

A game has a module that reads its entries. A file has blocks of lines, a keyword and its values on each. Questions and
answers are objects of JSON, each with one member: its kind. ``docs/vectors.md`` has their form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from referee.games import registry
from referee.log.vectors import DATA


@dataclass
class Entry:
    """One position with its counts."""

    id: str
    comments: list[str] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)
    play: list[tuple[str, ...]] = field(default_factory=list)
    nodes: dict[int, int] = field(default_factory=dict)

    def words(self, keyword: str, default: Sequence[str] = ()) -> list[str]:
        """Return the values of a line."""
        return self.lines.get(keyword, list(default))


def read(path: Path) -> Iterator[Entry]:
    """Yield the entries of a file. Raise ``ValueError``."""
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [line.split(" ") for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        if lines[0][0] != "id":
            raise ValueError(f"{path}: {' '.join(lines[0])}; expected an id")
        entry = Entry(lines[0][1], [line for line in block.splitlines() if line.startswith("#")])
        for keyword, *values in lines[1:]:
            if keyword == "play":
                entry.play.append(tuple(values))
            elif keyword == "nodes":
                entry.nodes[int(values[0])] = int(values[1])
            else:
                if keyword in entry.lines:
                    raise ValueError(f"{path}: {entry.id} has {keyword} twice")
                entry.lines[keyword] = values
        yield entry


Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """A position of an entry, and the function that continues it."""

    state: Any
    settle: Callable[[Any, int], int]
    """Applies every event that is no decision. Takes and returns the number of the entry's draws that have come."""
    used: int = 0

    def after(self, move: Any) -> Point:
        """Return the next decision. Raise ``ValueError`` for a move that is against the rules."""
        if broken := self.state.check(move):
            raise ValueError(f"{move!r}: {', '.join(violation.rule_id for violation in broken)}")
        state = self.state.copy()
        state.apply(move)
        return Point(state, self.settle, self.settle(state, self.used))


class Counting(Protocol):
    """The functions of a game's module. All raise ``ValueError`` for words that are none of its entries or moves."""

    def start(self, entry: Entry) -> Point:
        """Return the position in which counting starts, of an entry of a whole game."""

    def move_of(self, said: Words, state: Any) -> Any:
        """Return the move of a ``play`` line."""

    def placings(self, entry: Entry, depth: int) -> int:
        """Return the number of sequences of placements, of an entry with a hand."""


def counting(rules_id: str) -> Counting:
    """Return the game's module."""
    found: Counting = registry.part(__package__, rules_id)
    return found


def count(rules_id: str, entry: Entry, depth: int) -> int:
    """Return the number of sequences of ``depth`` moves that follow."""
    if "hand" in entry.lines:
        return counting(rules_id).placings(entry, depth)
    return _count(counting(rules_id).start(entry), depth)


def played(game: Counting, point: Point, entry: Entry) -> Point:
    """Return the position after the entry's ``play`` lines. Raise ``ValueError``."""
    for said in entry.play:
        try:
            point = point.after(game.move_of(said, point.state))
        except ValueError as error:
            raise ValueError(f"{entry.id}, play {' '.join(said)}: {error}") from error
    return point


def happened(state: Any, outcome: Any) -> None:
    """Apply what was drawn. Raise ``ValueError``."""
    if broken := state.check(outcome):
        raise ValueError(f"{outcome!r}: {', '.join(violation.rule_id for violation in broken)}")
    state.apply(outcome)


def pair(word: str) -> tuple[int, int]:
    """Return the two numbers of ``-1,2``."""
    first, second = word.split(",")
    return int(first), int(second)


def _count(point: Point, depth: int) -> int:
    moves = list(point.state.legal_moves())
    return len(moves) if depth == 1 else sum(_count(point.after(move), depth - 1) for move in moves)


KINDS: Final = ("count", "legal", "score", "digest")


class BadAnswer(ValueError):
    """The answer is not of the form that was asked for; the message has the expected form."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question."""

    game: str
    kind: str
    where: str
    """The file, the entry and, for a count, the depth."""
    asked: Mapping[str, Any]
    expected: Any
    """The answer; for ``legal`` the engine's moves, as their order does not matter."""
    point: Point | None = None

    def found(self, answer: Mapping[str, Any]) -> Any:
        """Return what the answer says, to be compared; None: the engine does not know such questions.

        Raise ``BadAnswer``.
        """
        if answer == {"unsupported": True}:
            return None
        if set(answer) != {self.kind}:
            raise BadAnswer(f'an object with "{self.kind}" alone, or {{"unsupported":true}}')
        said = answer[self.kind]
        match self.kind:
            case "count" if type(said) is int:
                return said
            case "digest" if isinstance(said, str):
                return said
            case "score" if isinstance(said, list) and all(type(each) is int for each in said):
                return tuple(said)
            case "legal" if isinstance(said, list) and all(_is_words(each) for each in said):
                return self._moves(said)
        raise BadAnswer(
            {
                "count": "a number",
                "digest": "64 hexadecimal digits",
                "score": "a list with each seat's points",
                "legal": "a list of moves, each a list of the words of a play line",
            }[self.kind]
        )

    def _moves(self, said: Sequence[Sequence[str]]) -> tuple[Any, ...]:
        assert self.point is not None  # noqa: S101 - of this kind each has one
        try:
            moves = [counting(self.game).move_of(tuple(words), self.point.state) for words in said]
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise BadAnswer(f"moves in the words of play lines ({error})") from None
        return tuple(sorted(moves, key=repr))


def questions(rules_id: str, most: int) -> Iterator[Question]:
    """Yield every question about a game. ``most``: no count is asked for that is larger."""
    version = registry.get(rules_id).version
    for path in sorted((DATA / rules_id).glob("*.perft")):
        for entry in read(path):
            told = {"game": rules_id, "version": version, "entry": _as_json(entry)}
            where = f"{path.stem} {entry.id}"
            for depth, nodes in entry.nodes.items():
                if nodes <= most:
                    asked = {"count": {**told, "depth": depth}}
                    yield Question(rules_id, "count", f"{where}, depth {depth}", asked, nodes)
            if "hand" in entry.lines:
                continue
            point = counting(rules_id).start(entry)
            expected = {
                "legal": tuple(sorted(point.state.legal_moves(), key=repr)),
                "score": tuple(point.state.scores),
                "digest": point.state.digest().hex(),
            }
            for kind, answer in expected.items():
                yield Question(rules_id, kind, where, {kind: told}, answer, point)


def _as_json(entry: Entry) -> dict[str, Any]:
    """Return the entry, each line as the list of its words."""
    return {"id": entry.id, **entry.lines, "play": [list(said) for said in entry.play]}


def _is_words(said: Any) -> bool:
    return isinstance(said, list) and all(isinstance(word, str) for word in said)
