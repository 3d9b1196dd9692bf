"""The line that is being typed: its meaning in a position, and its continuations. Knows no terminal and no game.

The notation's own parser reads the line, and the rules judge it in the position as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Final

from referee.games import registry
from referee.games.game import Cell, Chance, Decision, Forced, ForcedPass, Over
from referee.text.notation.game_text import line, read_line
from referee.text.notation.grammar import grammar_of
from referee.text.notation.violations import NotationError, sentence
from referee.text.render.drawing import player_words
from referee_clients.terminal.desk.guide import guide

MOST_MOVES = 5000
"""Legal moves that are looked at for continuations; far more than there are at a table."""

_BEGINNING: Final = re.compile(r"[^:]*:|[a-z]+", re.ASCII)
_SEAT: Final = re.compile(r"\s*(\d+)\s*:", re.ASCII)


@dataclass(frozen=True, slots=True)
class Reading:
    """The meaning of a line: an event that the rules allow, or the reason against it."""

    event: Any = None
    line: str = ""
    """The event with all that may be left out."""
    error: str = ""
    """The error in one paragraph."""
    column: int = 0
    """The place of the error, from 1; 0: it is about the whole line."""
    cells: tuple[Cell, ...] = ()
    """The cells of the board where a rule is broken."""
    unfinished: bool = False
    """True if the line is wrong only because it ends."""

    def __str__(self) -> str:
        """Return what is wrong with it, and where."""
        return f"column {self.column}: {self.error}" if self.column else self.error


class Desk:
    """One position, and the lines that may be entered in it."""

    def __init__(self, rules_id: str, state: Any, *, goes_on: bool = True) -> None:
        """``goes_on``: moves and draws are awaited here, which is not so of a game that was ended or suspended, nor
        where another enters them.
        """
        self._goes_on = goes_on
        self.rules_id = rules_id
        self.state = state
        self.pending = state.pending()[0]
        self._guide = guide(rules_id)
        self.moves = self._all_moves()
        """The lines of all legal moves, if one is awaited here."""
        self.beginning = self._beginning()
        """The beginning of every line that is right; empty after the end of the game."""

    def _all_moves(self) -> list[str]:
        if not isinstance(self.pending, Decision) or not self._goes_on:
            return []
        moves = islice(self.state.legal_moves(), MOST_MOVES)
        return [line(self.rules_id, self.state, move) for move in moves]

    def _beginning(self) -> str:
        if not self._goes_on:
            return ""
        if isinstance(self.pending, Decision):
            return f"{self.pending.seat}: "
        if not isinstance(self.pending, Chance):
            return ""
        example = self.example()
        return example[: example.index(":") + 2] if ":" in example else f"{example.rpartition(' ')[0]} "

    def example(self) -> str:
        """Return a line that may be entered: of chance, only how it looks."""
        if isinstance(self.pending, Chance):
            return line(self.rules_id, self.state, self._outcome())
        return self.moves[0] if self.moves else ""

    def awaited(self, names: Sequence[str]) -> str:
        """Return in words the awaited author and act."""
        match self.pending:
            case Decision(seat, kinds):
                return f"{first_words(seat, names)} to move: {', '.join(kind.replace('_', ' ') for kind in kinds)}"
            case Chance(kind):
                return f"The draw: {self._draw(kind, names)}"
            case Over():
                return "The moves are over."
            case _:
                return "The referee acts next."

    def _draw(self, kind: str, names: Sequence[str]) -> str:
        """Return what is to be entered, and whose it is: any outcome tells."""
        outcome = self._outcome()
        who = player_words(getattr(outcome, "seat", 0), names)
        return self._guide.DRAWS[kind].format(player=who, virtual=getattr(outcome, "player", 0) + 1)

    def _outcome(self) -> Any:
        """Return an outcome of the present draw."""
        outcome, _ = next(iter(self.state.chance_outcomes()))
        return outcome

    def help(self) -> list[str]:
        """Return what may be entered now, each with an example."""
        if not self._goes_on:
            return ["No move and no draw is awaited now."]
        if isinstance(self.pending, Chance):
            return ["For example:", f"    {self.example()}"]
        if not isinstance(self.pending, Decision):
            return ["Nothing can be entered now."]
        # Legal moves come by kind, and of each kind the first is an example.
        events = islice(self.state.legal_moves(), MOST_MOVES)
        kinds = (next(moves) for _, moves in groupby(events, key=type))
        lines = []
        for event in kinds:
            lines += [_sentence(self.does(event)), f"    {line(self.rules_id, self.state, event)}"]
        return lines

    def does(self, move: Any) -> str:
        """Return in words what a move of this kind does."""
        return self._guide.MOVES[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(move).__name__).lower()]

    def is_last(self, event: Any) -> bool:
        """Return whether the game is over after it."""
        after = self.state.copy()
        after.apply(event)
        while isinstance(forced := after.pending()[0], Forced):
            after.apply(ForcedPass(forced.seat))
        return isinstance(after.pending()[0], Over)

    # --- what is typed ---------------------------------------------------------------------------------------

    def whole(self, text: str) -> str:
        """Return the line as it is meant if behind what it begins with another beginning was typed, or the same."""
        begun, rest = self.beginning.strip(), text.strip()
        while begun and rest.startswith(begun):
            after = rest.removeprefix(begun).lstrip()
            if not (after.startswith(begun) or self._begins_line(after)):
                break
            rest = after
        return text if rest == text.strip() else rest

    def _begins_line(self, text: str) -> bool:
        """Return whether its first words can only begin a line: ``1:``, ``first order:``, ``start``."""
        if (begun := _BEGINNING.match(text)) is None:
            return False
        try:
            grammar_of(self.rules_id).parse(begun[0], "act")
        except NotationError as error:
            return error.is_unfinished
        return True

    def read(self, text: str) -> Reading:
        """Return what the line means here, ``whole`` or as it was typed; the position stays as it is."""
        whole = self.whole(text)
        try:
            event = read_line(self.rules_id, self.state, whole)
        except NotationError as error:
            return self._wrong(error, whole, shift=len(text.rstrip()) - len(whole.rstrip()))
        return Reading(event, line(self.rules_id, self.state, event))

    def meaning(self, text: str) -> str:
        """Return what the line would enter, as it stands there, or why it would not."""
        if self.whole(text).strip() in ("", self.beginning.strip()):
            return f"For example: {self.example()}"
        reading = self.read(text)
        if reading.event is not None:
            return f"Enter enters: {reading.line}"
        goes_on = reading.unfinished or self.choices(self.whole(text))
        return f"Not yet: {reading.error}" if goes_on else f"Not possible: {reading}"

    def _wrong(self, error: NotationError, text: str, shift: int) -> Reading:
        """``shift``: columns before the text."""
        if self.beginning and not text.lstrip().startswith(self.beginning.rstrip()):
            if self._begins_line(text.strip()):
                return Reading(error=self._not_awaited(text))
            return Reading(error=f"the line must begin with {self.beginning.rstrip()}", column=1)
        if error.violations:
            rules = {rule.id: rule for rule in registry.get(self.rules_id).catalogue}
            told = "; ".join(sentence(violation, rules) for violation in error.violations)
            return Reading(error=told, cells=tuple(cell for violation in error.violations for cell in violation.cells))
        what = "" if error.is_unfinished else f"{error.what}; "
        told = f"{what}expected {error.expected}"
        return Reading(error=told, column=error.column + shift, unfinished=error.is_unfinished)

    def _not_awaited(self, text: str) -> str:
        """Return what is awaited in place of a line that begins as another move or draw."""
        seat = _SEAT.match(text)
        if isinstance(self.pending, Decision):
            on_turn = f"{player_words(self.pending.seat)} is on turn"
            what = f"{on_turn}, not {player_words(int(seat[1]))}" if seat else f"nothing is drawn now: {on_turn}"
            return f"{what}; expected {self.beginning.rstrip()} and a move"
        what = "no player can move now" if seat else "something else is drawn now"
        drawn = self._draw(self.pending.kind, ()) if isinstance(self.pending, Chance) else ""
        return f"{what}; expected {self.beginning.rstrip()} and then {drawn}"

    # --- its continuations --------------------------------------------------------------------------------------

    def choices(self, text: str) -> list[str]:
        """Return the texts, each one word longer or with its last word whole, with which such lines continue."""
        typed = " ".join(text.split()) + (" " if text[-1:].isspace() and text.strip() else "")
        if isinstance(self.pending, Decision):
            return self._moves_from(typed)
        if isinstance(self.pending, Chance):
            return self._draws_from(typed)
        return []

    def completed(self, text: str) -> str:
        """Return the text as far as there is one continuation; itself if there are several."""
        choices = self.choices(text)
        if not choices:
            return text
        common = _common(choices)
        # A blank after what is the only way: unless it ends the line, the next word follows.
        whole = len(choices) == 1 and self.read(common).event is None
        longer = f"{common} " if whole and not common.endswith(" ") else common
        return longer if len(longer) > len(" ".join(text.split())) else text

    def _moves_from(self, typed: str) -> list[str]:
        found = [move for move in self.moves if move.startswith(typed)]
        if not found:  # the seat may still be missing
            found = [move for move in self.moves if move.removeprefix(self.beginning).startswith(typed)]
            typed = f"{self.beginning}{typed}"
        return _unique(_to_next_blank(move, len(typed)) for move in found)

    def _draws_from(self, typed: str) -> list[str]:
        if not typed.startswith(self.beginning):
            return [self.beginning] if self.beginning.startswith(typed) else []
        *before, last = typed.removeprefix(self.beginning).split(" ")
        start = typed[: len(typed) - len(last)]
        words = self._guide.to_come(self.state, before)
        return [f"{start}{word}" for word in words if word.startswith(last)]


def first_words(seat: int, names: Sequence[str] = ()) -> str:
    """Return ``Player 1`` for seat 0, or the name: the player where a sentence begins."""
    words, unnamed = player_words(seat, names), player_words(seat)
    return unnamed.capitalize() + words.removeprefix(unnamed) if words.startswith(unnamed) else words


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def last_words(choices: Iterable[str]) -> list[str]:
    """Return of each what it ends with: all that differs."""
    return [choice.rstrip().rpartition(" ")[2] for choice in choices]


def _to_next_blank(words: str, start: int) -> str:
    """Return the words up to the end of the word that the start is in."""
    end = words.find(" ", start)
    return words if end < 0 else words[:end]


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _common(texts: Sequence[str]) -> str:
    """Return what all of them begin with."""
    first, last = min(texts), max(texts)
    return first[: next((i for i, letter in enumerate(first) if last[i : i + 1] != letter), len(first))]
