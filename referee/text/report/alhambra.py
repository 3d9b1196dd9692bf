"""Alhambra's score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.games.alhambra import State
from referee.games.alhambra.options import LoopRule
from referee.games.alhambra.position import Phase
from referee.games.alhambra.scoring import NEUTRAL, Line, place_points, places, score_position
from referee.games.alhambra.tiles import TYPES
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.outcomes import players as named
from referee.text.report.sheet import Item, Player, Reason, Sheet, SheetError, share, tied, upper
from referee.text.words.catalogue import Words, player

_LAST = 3
_Round = tuple[int, State]
"""The number of the round, and the position whose boards it scores."""


def sheet(state: State, scored: Sequence[State], *, final: bool, say: Words) -> Sheet:
    """Score round by round, as far as the boards are known; points that they do not explain are taken over.

    Raise ``SheetError`` if the points are fewer than the last round gives, or come from no round at all.
    """
    rounds = list(_held(scored))
    known = len(rounds)
    over = state.phase is Phase.OVER
    totals = list(state.scores)
    if over and known < state.scorings:
        rounds.append((_LAST, state))
    elif final and not over:
        rounds.append((_LAST, state))
        totals = [own + points for own, points in zip(totals, _points(_LAST, state), strict=True)]
    explained = [sum(points) for points in zip(*(_points(*each) for each in rounds), strict=True)] or [0] * state.seats
    rest = [own - points for own, points in zip(totals, explained, strict=True)]
    before = state.scorings - known - (over and known < state.scorings)
    for seat, points in enumerate(rest):
        if points < 0 or (points and not before):
            least = explained[seat] if over else 0
            what = f"{player(IN_ENGLISH, seat)}: {state.scores[seat]} points with {state.scorings} scoring rounds held"
            raise SheetError(what, f"at least {least}" if before else str(least))
    ranks = places(totals)
    players = []
    for seat in range(state.seats):
        items = [item for each in rounds for item in _items(seat, *each, say)]
        if before:
            group, what, how = (say(f"alhambra.before.{part}") for part in ("group", "what", "how"))
            items.insert(0, Item(group, what, how, rest[seat], ("ALH-E1",)))
        players.append(Player(player(say, seat), tuple(items), totals[seat], ranks[seat]))
    ties = [
        Reason(upper(say("alhambra.tie", who=named(group, say), n=totals[group[0]])), ("ALH-E10", "ALH-F12"))
        for group in tied(totals)
    ]
    remarks = [*([say("alhambra.before")] if before else []), *_uneven_piles(state, say)]
    return Sheet(tuple(players), tuple(ties), tuple(remarks))


def _uneven_piles(state: State, say: Words) -> Iterator[str]:
    if facts := state.uneven_piles():
        cards = (say("alhambra.piles.came", card=card, n=facts[card]) for card in ("A", "B") if card in facts)
        turned = [say("alhambra.piles.turned", n=facts["turned"])] if "turned" in facts else []
        what = "; ".join(filter(None, (say("and").join(cards), *turned)))
        yield say("alhambra.piles", n=facts["cards"], what=what)


def _held(scored: Sequence[State]) -> Iterator[_Round]:
    """Every round that was held. Nothing but the points changes with one, so the boards are those that it scored."""
    told = 0
    for state in scored:
        for number in range(told + 1, state.scorings + 1):
            # The last is the third round, even if the card of the second never came (ALH-E9).
            yield (_LAST if state.phase is Phase.OVER and number == state.scorings else number), state
        told = state.scorings


def _points(round_: int, state: State) -> list[int]:
    return score_position(state, round_)[0]


def _items(seat: int, round_: int, state: State, say: Words) -> Iterator[Item]:
    """Yield a line for each type of which the seat has tiles, and its wall."""
    _, lines = score_position(state, round_)
    group = say("group.round", n=round_)
    for type_, count in enumerate(state.counts(seat)):
        if not count:
            continue
        own = next((line for line in lines if line.type == type_ and seat in line.players), None)
        how, rules = _share(seat, round_, own, say) if own else (say("places.none"), ("ALH-E1",))
        how = say("alhambra.tiles", n=count, how=how)
        yield Item(group, say(f"type.{TYPES[type_]}"), how, own.each if own else 0, rules)
    rules = ("ALH-B8", "ALH-B6") if state.options.loop_rule is LoopRule.ONE_LESS else ("ALH-B8",)
    yield Item(group, say("alhambra.wall"), say("alhambra.wall.how"), state.wall(seat), rules)


def _share(seat: int, round_: int, line: Line, say: Words) -> tuple[str, tuple[str, ...]]:
    """``1st and 2nd places shared with player 2 and the neutral player, (21 + 13) / 2 = 17 each``."""
    points = place_points(round_, line.type)[line.place - 1 : line.place - 1 + len(line.players)]
    others = [other for other in line.players if other != seat]
    names = [say("alhambra.neutral") if other == NEUTRAL else player(say, other) for other in others]
    words = share(line.place, points, names, line.each, say)
    if not others:
        return words, ("ALH-E1",)
    missing = ("ALH-E3",) if len(points) < len(line.players) else ()
    neutral = ("ALH-E6",) if NEUTRAL in line.players else ()
    return words, ("ALH-E1", "ALH-E2", *missing, *neutral)
