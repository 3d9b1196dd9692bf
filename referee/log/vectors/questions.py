"""What a foreign engine is asked about the positions of the counting files, and what it has to answer.

Questions and answers are objects of JSON, each with one member: its kind. ``docs/vectors.md`` has their form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from referee.games import registry
from referee.log.vectors import DATA
from referee.log.vectors.counting import Point, counting
from referee.log.vectors.entries import Entry, read

KINDS: Final = ("count", "legal", "score", "digest")


class BadAnswer(ValueError):
    """It is not of the form that was asked for: what was expected."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question."""

    game: str
    kind: str
    where: str
    """The file, the entry and, for a count, the depth."""
    asked: Mapping[str, Any]
    expected: Any
    """For ``legal`` the moves as the engine has them, as their order does not matter."""
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
