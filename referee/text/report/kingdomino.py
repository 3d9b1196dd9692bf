"""Kingdomino's score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import TERRAINS, UNKNOWN
from referee.games.kingdomino.options import Central
from referee.games.kingdomino.scoring import Standing, central_bonus, harmony_bonus, places
from referee.text.notation.outcomes import players as named
from referee.text.report.sheet import Item, Player, Reason, Sheet, tied, upper
from referee.text.words.catalogue import Words, player


def sheet(
    state: State,
    scored: Sequence[State],  # noqa: ARG001 - it scores once
    *,
    final: bool,  # noqa: ARG001
    say: Words,
) -> Sheet:
    """Score the kingdoms as they are."""
    standings = [state.standing(seat) for seat in range(state.seats)]
    ranks = places(standings)
    players = [
        Player(player(say, seat), tuple(_items(state, seat, say)), state.score(seat), ranks[seat])
        for seat in range(state.seats)
    ]
    remarks = [say("kingdomino.dynasty")] if state.options.dynasty else []
    return Sheet(tuple(players), tuple(_ties(standings, say)), tuple(remarks))


def _items(state: State, seat: int, say: Words) -> Iterator[Item]:
    kingdom, options = state.kingdoms[seat], state.options
    for area in kingdom.areas():
        words = f"{say('kingdomino.squares', n=area.squares)} × {say('kingdomino.crowns', n=area.crowns)}"
        terrain = say(f"terrain.{TERRAINS[area.terrain]}")
        yield Item(say("group.areas"), terrain, words, area.squares * area.crowns, ("KDO-20",))
    if options.central is not Central.NO:
        points = central_bonus(kingdom, options)
        where = "frame" if options.central is Central.FRAME else "kingdom"
        words = say(f"kingdomino.central.{where}{'' if points else '.not'}")
        yield Item(say("group.bonuses"), say("kingdomino.central"), words, points, ("KDO-24", "KDO-27"))
    if options.harmony:
        points = harmony_bonus(state.discarded[seat], options)
        words = _discarded(state.discarded[seat], say)
        yield Item(say("group.bonuses"), say("kingdomino.harmony"), words, points, ("KDO-24", "KDO-28"))


def _discarded(discarded: Sequence[int], say: Words) -> str:
    if not discarded:
        return say("kingdomino.discarded.none")
    if UNKNOWN in discarded:
        return say("kingdomino.discarded.unknown", n=len(discarded))
    return say("kingdomino.discarded", dominoes=" ".join(map(str, discarded)))


def _ties(standings: Sequence[Standing], say: Words) -> Iterator[Reason]:
    """Return the tie-break of each group of seats with equal points (KDO-21 to KDO-23)."""
    for group in tied([standing.points for standing in standings]):
        areas = {standings[seat].largest_area for seat in group}
        sizes = _each(group, [standings[seat].largest_area for seat in group], say)
        words = say("kingdomino.tie", who=named(group, say), n=standings[group[0]].points, areas=sizes)
        rules = ["KDO-21"]
        if still := tied([standings[seat].largest_area for seat in group]):
            rules.append("KDO-22")
            equal = sorted(group[index] for indices in still for index in indices)
            crowns = _each(equal, [standings[seat].crowns for seat in equal], say)
            words += "; " + say(f"kingdomino.tie.crowns.{'all' if len(areas) == 1 else 'some'}", crowns=crowns)
            alike = [seat for seat in equal if standings.count(standings[seat]) > 1]
            if alike:
                rules.append("KDO-23")
                words += "; " + say("kingdomino.tie.alike", who=named(alike, say))
        yield Reason(upper(f"{words}."), tuple(rules))


def _each(group: Sequence[int], values: Sequence[int], say: Words) -> str:
    return ", ".join(say("player.has", player=seat, n=value) for seat, value in zip(group, values, strict=True))
