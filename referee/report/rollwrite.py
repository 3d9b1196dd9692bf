"""Roll & Write's score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.games.rollwrite import TYPES, State
from referee.games.rollwrite.scoring import Score, Share, place_of
from referee.notation.outcomes import counted, named
from referee.report.sheet import Item, Player, Reason, Sheet, ordinals, tied, upper


def sheet(state: State, scored: Sequence[State], *, final: bool) -> Sheet:  # noqa: ARG001 - awards are in the position
    """Score the sheets as they are; places of types that nobody has completed are those of the end."""
    scores, shares = state.score()
    names = [f"seat {seat}" for seat in range(state.seats)]
    names += [f"virtual {player}" for player in range(len(state.virtual))]
    ranked = range(len(scores) if state.is_against else state.seats)
    totals = [scores[player].total for player in ranked]
    players = [
        Player(
            names[player],
            tuple(_items(state, player, scores[player], shares, names)),
            totals[player],
            place_of(totals[player], totals),
        )
        for player in ranked
    ]
    rules = ("RNW-41", "RNW-46") if state.is_against else ("RNW-41",)
    ties = []
    for group in tied(totals):
        who = named([names[player] for player in group])
        ties.append(Reason(f"{upper(who)} have {counted(totals[group[0]], 'point')} each and share the place.", rules))
    remarks = [f"{state.sheet.provenance}."] if state.sheet.provenance else [f"Sheet {state.sheet.name}."]
    return Sheet(tuple(players), tuple(ties), tuple(map(upper, remarks)))


def _items(state: State, player: int, score: Score, shares: Sequence[Share], names: Sequence[str]) -> Iterator[Item]:
    counts = state.all_counts()[player]
    for type_, name in enumerate(TYPES):
        how, rules = _type(state, player, type_, shares, names)
        boxes = f"{counts[type_]} of {state.sheet.boxes[type_]}"
        yield Item("buildings", name, f"{boxes}: {how}" if how else boxes, score.types[type_], rules)
    for line in score.lines:
        yield Item(
            "rows and columns", f"{line.die} {line.value}", f"{line.buildings} buildings", line.points, ("RNW-39",)
        )
    if player < state.seats:
        yield Item("coins", "coins", f"{state.coins[player]} not spent", score.coins, ("RNW-40",))
    if score.bonus:
        words = f"of each of {len(state.virtual)} virtual players"
        yield Item("bonus", "virtual player", words, score.bonus, ("RNW-44",))


def _type(
    state: State, player: int, type_: int, shares: Sequence[Share], names: Sequence[str]
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
            shared = f" with {named(others)}, each {award.each}" if others else ""
            when = f"in round {award.round}" if award.round else "during the game"
            return f"completed {when}{shared}", tuple(rules)
    late = ("RNW-36",) if any(award.type == type_ for award in state.awards) else ()
    for share in shares:
        if share.type == type_ and player in share.players:
            rules = ["RNW-33", *late, *(["RNW-34"] if len(share.players) > 1 else [])]
            sharing = [other for other in share.players if other != player]
            if not state.is_against and any(other >= state.seats for other in sharing):
                rules.append("RNW-38")
            what = ordinals(share.place, len(share.points))
            if not sharing:
                return what, tuple(rules)
            sum_ = " + ".join(map(str, share.points))
            sum_ = f"({sum_})" if len(share.points) > 1 else sum_
            words = f"{what} shared with {named([names[other] for other in sharing])}"
            return f"{words}, {sum_} / {len(share.players)} = {share.each} each", tuple(rules)
    if not state.all_counts()[player][type_]:
        return "", ("RNW-35",)
    return "no place is left", ("RNW-33", *late)
