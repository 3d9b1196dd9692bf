"""Asks a foreign engine the questions of the vectors, in lines of JSON, and compares its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from referee.log.vectors.questions import BadAnswer, Question
from referee.text.notation.questions import shown
from referee_clients.bots import protocol
from referee_clients.bots.program import Patience, Program

ANSWER_S: Final = 60.0


class Engine(Program):
    """A program that answers questions, each line with one line. ``with`` it: it is started, and ended."""

    kind = "engine"

    def __enter__(self) -> Engine:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end(None)

    def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return its answer. Raise ``ProgramFailed`` if it has ended, or answers no object within ``ANSWER_S``."""
        patience = Patience.of(ANSWER_S)
        self._send(json.dumps(question, separators=(",", ":")).encode() + b"\n", patience)
        with self._understood():
            return protocol.answer(self._line(patience, "an answer"))


@dataclass(slots=True)
class Agreement:
    """What came of the questions of one kind about one game."""

    game: str
    kind: str
    agreed: int = 0
    unsupported: int = 0
    differences: list[str] = field(default_factory=list)
    """Where, what was answered and what was expected."""

    @property
    def answered(self) -> int:
        """Return how many questions the engine answered."""
        return self.agreed + len(self.differences)


def compare(engine: Engine, asked: Iterable[Question], told: Callable[[], None]) -> list[Agreement]:
    """Ask them all, and call ``told`` after each. Raise ``ProgramFailed``."""
    found = dict[tuple[str, str], Agreement]()
    for question in asked:
        agreement = found.setdefault((question.game, question.kind), Agreement(question.game, question.kind))
        told()
        answer = engine.ask(question.asked)
        try:
            said = question.found(answer)
        except BadAnswer as wrong:
            agreement.differences.append(f"{question.where}: {shown(dict(answer))}; expected {wrong}")
            continue
        if said is None:
            agreement.unsupported += 1
        elif said == question.expected:
            agreement.agreed += 1
        else:
            agreement.differences.append(f"{question.where}: {_difference(said, question.expected)}")
    return list(found.values())


def _difference(said: Any, expected: Any) -> str:
    if isinstance(said, tuple) and not all(isinstance(each, int) for each in (*said, *expected)):
        more, less = [m for m in said if m not in expected], [m for m in expected if m not in said]
        parts = [
            f"{word} {', '.join(map(repr, moves[:3]))}" for word, moves in (("also", more), ("not", less)) if moves
        ]
        return f"{len(said)} moves, expected {len(expected)}: {'; '.join(parts) or 'one of them twice'}"
    return f"{said!r}; expected {expected!r}"
