"""Roll & Write's score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.games.rollwrite import TYPES, State
from referee.games.rollwrite.scoring import Score, Share, place_of
from referee.text.notation.outcomes import named
from referee.text.report.sheet import Item, Player, Reason, Sheet, tied, upper
from referee.text.report.sheet import share as shared
from referee.text.words.catalogue import Words, player


def sheet(
    state: State,
    scored: Sequence[State],  # noqa: ARG001 - awards are in the position
    *,
    final: bool,  # noqa: ARG001
    say: Words,
) -> Sheet:
    """Score the sheets as they are; places of types that no player has completed are those of the end."""
    scores, shares = state.score()
    names = [player(say, seat) for seat in range(state.seats)]
    names += [say("rollwrite.virtual", n=number + 1) for number in range(len(state.virtual))]
    ranked = range(len(scores) if state.is_against else state.seats)
    totals = [scores[player].total for player in ranked]
    players = [
        Player(
            names[player],
            tuple(_items(state, player, scores[player], shares, names, say=say)),
            totals[player],
            place_of(totals[player], totals),
        )
        for player in ranked
    ]
    rules = ("RNW-41", "RNW-46") if state.is_against else ("RNW-41",)
    ties = []
    for group in tied(totals):
        who = named([names[player] for player in group], say)
        ties.append(Reason(upper(say("rollwrite.tie", who=who, n=totals[group[0]])), rules))
    of = "rollwrite.sheet.default" if state.sheet.provenance else "rollwrite.sheet"
    return Sheet(tuple(players), tuple(ties), (say(of, name=state.sheet.name),))


def _items(
    state: State, player: int, score: Score, shares: Sequence[Share], names: Sequence[str], *, say: Words
) -> Iterator[Item]:
    counts = state.all_counts()[player]
    for type_, name in enumerate(TYPES):
        how, rules = _type(state, player, type_, shares, names, say=say)
        boxes = say("rollwrite.boxes", n=counts[type_], boxes=state.sheet.boxes[type_])
        words = f"{boxes}: {how}" if how else boxes
        yield Item(say("group.buildings"), say(f"type.{name}"), words, score.types[type_], rules)
    for line in score.lines:
        what = say(f"rollwrite.line.{line.die}", n=line.value)
        built = say("rollwrite.buildings", n=line.buildings)
        yield Item(say("group.lines"), what, built, line.points, ("RNW-39",))
    if player < state.seats:
        words = say("rollwrite.coins.how", n=state.coins[player])
        yield Item(say("group.coins"), say("rollwrite.coins"), words, score.coins, ("RNW-40",))
    if score.bonus:
        words = say("rollwrite.bonus.how", n=len(state.virtual))
        yield Item(say("group.bonus"), say("rollwrite.bonus"), words, score.bonus, ("RNW-44",))


def _type(
    state: State, player: int, type_: int, shares: Sequence[Share], names: Sequence[str], *, say: Words
) -> tuple[str, tuple[str, ...]]:
    """Return what the player has of a type's places, and the rules."""
    for award in state.awards:
        members = (*award.seats, *(state.seats + virtual for virtual in award.virtual))
        if award.type == type_ and player in members:
            rules = ["RNW-26", *(["RNW-28"] if award.place > 1 else []), *(["RNW-27"] if len(members) > 1 else [])]
            if award.virtual and not state.is_against:
                rules.append("RNW-31")
            if player >= state.seats:
                rules.append("RNW-45")
            others = [names[other] for other in members if other != player]
            words = say(f"rollwrite.completed{'.round' if award.round else ''}", n=award.round)
            if others:
                words += say("rollwrite.completed.with", others=named(others, say), each=award.each)
            return words, tuple(rules)
    late = ("RNW-36",) if any(award.type == type_ for award in state.awards) else ()
    for share in shares:
        if share.type == type_ and player in share.players:
            rules = ["RNW-33", *late, *(["RNW-34"] if len(share.players) > 1 else [])]
            sharing = [other for other in share.players if other != player]
            if not state.is_against and any(other >= state.seats for other in sharing):
                rules.append("RNW-38")
            others = [names[other] for other in sharing]
            return shared(share.place, share.points, others, share.each, say), tuple(rules)
    if not state.all_counts()[player][type_]:
        return "", ("RNW-35",)
    return say("places.none"), ("RNW-33", *late)
