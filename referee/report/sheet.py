"""What a score sheet is: every item that gives points, for every player, and why places are as they are. Knows no game.

Each game's module of this package makes one from the engine's own scoring; nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from referee.games import registry
from referee.games.game import Over, Rule, State
from referee.notation import game_text, position_text
from referee.notation.game_text import GameText
from referee.notation.headers import Setup
from referee.notation.registry import notation


@dataclass(frozen=True, slots=True)
class Item:
    """Something that gives a player points, or could have."""

    group: str
    """What it belongs to, such as ``round 3`` or ``areas``."""
    what: str
    how: str
    """How the points come about: ``shares 1st and 2nd place with seat 1: (21 + 13) / 2 = 17``."""
    points: int
    rules: tuple[str, ...]
    """Ids of the rules that give them."""


@dataclass(frozen=True, slots=True)
class Player:
    """What one player has. The items' points add up to ``total``."""

    name: str
    """``seat 0``, or ``virtual 0`` of a player that nobody plays and that has points."""
    items: tuple[Item, ...]
    total: int
    place: int
    """1 is the winner; equal places are a draw."""

    def groups(self) -> Iterator[tuple[str, list[Item]]]:
        """The items by what they belong to."""
        for name, items in groupby(self.items, lambda item: item.group):
            yield name, list(items)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why players with equal points have their places."""

    words: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The score of a position, item by item."""

    players: tuple[Player, ...]
    """The seats, then others with points."""
    ties: tuple[Reason, ...]
    """None where no two have the same points."""
    remarks: tuple[str, ...]
    """What was taken over, what is missing."""

    def rule_ids(self) -> list[str]:
        """Of all rules that the sheet names, each once, in the order of their mention."""
        items = [rules for player in self.players for item in player.items for rules in item.rules]
        return list(dict.fromkeys([*items, *(rule for tie in self.ties for rule in tie.rules)]))


class SheetError(ValueError):
    """A position that cannot have its points: what, and what was expected."""


class Scorer(Protocol):
    """What a game's module of this package offers."""

    def sheet(self, state: Any, scored: Sequence[Any], *, final: bool) -> Sheet:
        """The position's sheet. ``scored``: the positions right after each scoring of the game, where they are known.

        ``final``: of a game that is not over, as if it ended here; otherwise as far as points were given. Raises
        ``SheetError``.
        """


def sheet(rules_id: str, state: State, scored: Sequence[State] = (), *, final: bool = True) -> Sheet:
    """Raises ``SheetError``, ``UnknownRules``."""
    scorer: Scorer = registry.part(__package__, rules_id)
    found = scorer.sheet(state, scored, final=final)
    if is_over(state):
        return found
    so_far = "The game is not over: these are the points if it ended here."
    if not final:
        so_far = "The game is not over: these are the points so far."
    return Sheet(found.players, found.ties, (so_far, *found.remarks))


def is_over(state: State) -> bool:
    """Whether the rules have ended the game."""
    return isinstance(state.pending()[0], Over)


def read(text: str) -> tuple[Setup, State, list[State]]:
    """What a position, or a game as text, is of, its last position, and those right after each scoring that it tells.

    Raises ``NotationError``.
    """
    found, _ = game_text.parse(text)
    if "Position" in found.values:
        position = position_text.read(text)
        return position.setup, position.state, []
    game = game_text.read(text).game
    return game.setup, *replay(game)


def replay(game: GameText) -> tuple[State, list[State]]:
    """The position after a game's events, and those right after each of its scorings. The events can happen."""
    watch = Scorings(game.setup.rules_id)
    state = game.setup.start()
    for event in game.events:
        state.apply(event)
        watch.see(state)
    return state, watch.states


class Scorings:
    """Collects the positions right after each scoring of a game in progress."""

    def __init__(self, rules_id: str) -> None:
        self._notation = notation(rules_id)
        self._found: list[tuple[int, State]] = []
        """How many lines the scorings had brought, and the position."""

    @property
    def states(self) -> list[State]:
        """The positions, of those scorings that have not been taken back."""
        return [state for _, state in self._found]

    def see(self, state: State) -> None:
        """After every event, and wherever the game was set back."""
        lines = len(self._notation.rounds(state, 0))
        while self._found and self._found[-1][0] > lines:
            self._found.pop()
        if lines > (self._found[-1][0] if self._found else 0):
            self._found.append((lines, state.copy()))


def tied(totals: Sequence[int]) -> list[list[int]]:
    """The players with equal points, of those that are not alone with theirs; most points first."""
    equal = [[player for player, own in enumerate(totals) if own == total] for total in sorted({*totals}, reverse=True)]
    return [players for players in equal if len(players) > 1]


def in_points(number: int) -> str:
    """``1 point``, ``2 points``."""
    return f"{number} point{'' if number == 1 else 's'}"


def named(players: Sequence[str]) -> str:
    """``seat 0, seat 1 and seat 2``."""
    *some, last = players
    return f"{', '.join(some)} and {last}" if some else last


def seats(numbers: Sequence[int]) -> str:
    """``seats 0, 1 and 2``; ``seat 0``."""
    return f"seat{'s' if len(numbers) > 1 else ''} {named([str(number) for number in numbers])}"


def ordinals(first: int, count: int) -> str:
    """``1st and 2nd place``."""
    names = [_ORDINALS[place - 1] for place in range(first, first + count)]
    return f"{named(names)} place{'s' if count > 1 else ''}"


_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th")


def upper(words: str) -> str:
    """As the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def rules_of(rules_id: str, version: int) -> dict[str, Rule]:
    """The game's rules by their ids. Raises ``UnknownRules``."""
    return {rule.id: rule for rule in registry.get(rules_id, version).catalogue}
