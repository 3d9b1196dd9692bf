"""A score sheet: every item that gives points, for every player, and the reasons for the places. Knows no game.

Each game's module of this package makes one from the engine's own scoring; nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Protocol

from referee.games import registry
from referee.games.game import Ending, InputError, Over, Rule, State
from referee.games.results import Contest, Result, Wait
from referee.games.table_rules import CATALOGUE as TABLE_RULES
from referee.text.notation import game_text, headers, position_text
from referee.text.notation.game_text import GameText
from referee.text.notation.headers import Setup
from referee.text.notation.outcomes import IN_ENGLISH, named, needs_words, outcome
from referee.text.notation.registry import Scorings
from referee.text.words.catalogue import Said, Words


@dataclass(frozen=True, slots=True)
class Item:
    """Something that gives a player points, or could have."""

    group: str
    """The group of the item, such as ``round 3`` or ``areas``."""
    what: str
    how: str
    """The origin of the points: ``shares 1st and 2nd place with player 2: (21 + 13) / 2 = 17``."""
    points: int
    rules: tuple[str, ...]
    """Ids of the rules that give them."""


@dataclass(frozen=True, slots=True)
class Player:
    """One player's items and points. The items' points add up to ``total``."""

    name: str
    """``player 1``, or ``virtual 1`` of a virtual player with points."""
    items: tuple[Item, ...]
    total: int
    place: int
    """1 is the winner; equal places are a draw; 0: the game has no places."""

    def groups(self) -> Iterator[tuple[str, list[Item]]]:
        """Yield the items by group."""
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
    """Values that were taken over or are missing."""

    def rule_ids(self) -> list[str]:
        """Return the ids of all rules that the sheet names, each once, in the order of their mention."""
        items = [rules for player in self.players for item in player.items for rules in item.rules]
        return list(dict.fromkeys([*items, *(rule for tie in self.ties for rule in tie.rules)]))


class SheetError(InputError):
    """A position that cannot have its points."""

    def __init__(self, what: str, expected: str) -> None:
        super().__init__("", what, expected, sep=";")


class Scorer(Protocol):
    """The functions that a game's module of this package offers."""

    def sheet(self, state: Any, scored: Sequence[Any], *, final: bool, say: Words) -> Sheet:
        """Return the sheet. ``scored``: the positions right after each scoring of the game, where they are known.

        ``final``: of a game that is not over, as if it ended here; otherwise as far as points were given. ``say``: the
        language. Raises ``SheetError``.
        """


@dataclass(frozen=True, slots=True)
class Told:
    """The end of a game, as a game file or a text tells it."""

    setup: Setup
    state: State
    """The last position."""
    contest: Contest = field(default_factory=Contest)
    scored: Sequence[State] = ()
    """The positions right after each scoring, where they are known."""
    waits: Wait | None = None
    """The reason why the end of the game is not entered yet: there is time to protest."""
    is_boards: bool = False
    """True if it is of boards alone."""
    remarks: tuple[Said, ...] = ()
    """The sheet's remarks on its source."""
    game: GameText | None = None
    """The text of the game, if it is one."""

    @property
    def result(self) -> Result | None:
        """The game's result; None: the game is not over."""
        return self.contest.result(self.setup.seats, self.state.pending())

    @property
    def needs_words(self) -> bool:
        """True if points and places alone do not say how the game ended."""
        return needs_words(self.result, self.contest, self.waits)

    def outcome(self, say: Words = IN_ENGLISH) -> str:
        """Return who won and why, in words."""
        return outcome(self.result, self.contest, waits=self.waits, say=say)

    def sheet(self, *, final: bool = True, say: Words = IN_ENGLISH) -> Sheet:
        """Return the score sheet; ``final`` as in ``sheet``. Raise ``SheetError``, ``UnknownRules``."""
        contest, waits = self.contest, self.waits
        found = sheet(self.setup.rules_id, self.state, self.scored, contest=contest, final=final, waits=waits, say=say)
        boards = (say("remark.boards"),) if self.is_boards else ()
        remarks = (remark.by(say) for remark in self.remarks)
        return replace(found, remarks=(*found.remarks, *boards, *remarks))


def sheet(
    rules_id: str,
    state: State,
    scored: Sequence[State] = (),
    *,
    contest: Contest | None = None,
    final: bool = True,
    waits: Wait | None = None,
    say: Words = IN_ENGLISH,
) -> Sheet:
    """Return the score sheet of a position, with the places that the game has as it was contested.

    ``final``: as in ``Scorer``; ``waits``: its result is not entered yet. Raise ``SheetError``, ``UnknownRules``.
    """
    contest = contest or Contest()
    scorer: Scorer = registry.part(__package__, rules_id)
    found = scorer.sheet(state, scored, final=final, say=say)
    seats = found.players[: state.seats]
    result = contest.result(len(seats), state.pending())
    remarks = []
    if needs_words(result, contest, waits):
        remarks.append(f"{upper(outcome(result, contest, waits=waits, say=say))}.")
    if result is not None and result.ending is Ending.ADJUDICATED and result.scores:
        remarks.append(say("remark.given", points=" ".join(map(str, result.scores))))
    if not is_over(state):
        why = "not_over" if result is None else "not_ended"
        remarks.append(say(f"remark.{why}.{'if_ended' if final else 'so_far'}"))
    remarks += found.remarks
    if contest.is_plain:
        return replace(found, remarks=tuple(remarks))
    if result is None:  # as if it ended here
        scores, places = tuple(player.total for player in seats), tuple(player.place for player in seats)
        result = contest.result(len(seats), (Over(Ending.RULES, scores, places),))
    contested = _contested(seats, contest, result, say)
    same = [player.place for player in contested] == [player.place for player in seats]
    return Sheet((*contested, *found.players[len(seats) :]), found.ties if same else (), tuple(remarks))


def _contested(seats: Sequence[Player], contest: Contest, result: Result | None, say: Words) -> list[Player]:
    """Return the seats less what an arbiter took off, with the places of the result."""
    places = result.places if result is not None else ()
    contested = []
    for seat, player in enumerate(seats):
        off = contest.points_off[seat] if contest.points_off else 0
        penalty = Item(say("group.penalties"), say("item.penalty"), say("item.penalty.how"), -off, ("TBL-6",))
        items = (*player.items, penalty) if off else player.items
        contested.append(replace(player, items=items, total=player.total - off, place=places[seat] if places else 0))
    return contested


def is_over(state: State) -> bool:
    """Return whether the rules have ended the game."""
    return isinstance(state.pending()[0], Over)


def read(text: str) -> Told:
    """Return what boards alone, a position, or a game as text, tell. Raise ``NotationError``."""
    found, _ = game_text.parse(text, boards=True)
    if headers.BOARDS in found.values:
        boards = position_text.read_boards(text)
        return Told(boards.setup, boards.state, boards.contest, is_boards=True, remarks=boards.remarks)
    if headers.POSITION in found.values:
        position = position_text.read(text)
        return Told(position.setup, position.state, position.contest)
    game = game_text.read(text).game
    state, scored = replay(game)
    return Told(game.setup, state, game.contest, scored, game=game)


def replay(game: GameText) -> tuple[State, list[State]]:
    """Return the position after a game's events, and those right after each of its scorings.

    The events can happen, or an arbiter let them.
    """
    watch = Scorings(game.setup.rules_id)
    state = game.setup.start()
    for event in game.events:
        state.apply(event)
        watch.see(state)
    return state, watch.states


def tied(totals: Sequence[int]) -> list[list[int]]:
    """Return the players with equal points, of those that are not alone with theirs; most points first."""
    equal = [[player for player, own in enumerate(totals) if own == total] for total in sorted({*totals}, reverse=True)]
    return [players for players in equal if len(players) > 1]


def share(first: int, points: Sequence[int], others: Sequence[str], each: int, say: Words = IN_ENGLISH) -> str:
    """Return ``1st and 2nd places shared with player 2, (21 + 13) / 2 = 17 each``; with no others, the place alone.

    ``first``: the best of the places; ``points``: of each place; ``each``: every player's share.
    """
    places = named([say(f"ordinal.{first + beyond}") for beyond in range(len(points))], say)
    what = say("places" if len(points) > 1 else "places.one", places=places)
    if not others:
        return what
    sum_ = " + ".join(map(str, points))
    sum_ = f"({sum_})" if len(points) > 1 else sum_
    return say("places.shared", what=what, others=named(others, say), sum=sum_, n=len(others) + 1, each=each)


def upper(words: str) -> str:
    """Return the words as the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def rules_of(rules_id: str, version: int) -> dict[str, Rule]:
    """Return the rules of the game and of the table by their ids. Raise ``UnknownRules``."""
    return {rule.id: rule for rule in (*TABLE_RULES, *registry.get(rules_id, version).catalogue)}
