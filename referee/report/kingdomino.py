"""Kingdomino's score sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.games.kingdomino import State
from referee.games.kingdomino.dominoes import TERRAINS, UNKNOWN
from referee.games.kingdomino.options import Central
from referee.games.kingdomino.scoring import Standing, central_bonus, harmony_bonus, places
from referee.notation.outcomes import counted, seats
from referee.report.sheet import Item, Player, Reason, Sheet, tied, upper


def sheet(state: State, scored: Sequence[State], *, final: bool) -> Sheet:  # noqa: ARG001 - it scores once
    """Score the kingdoms as they are."""
    standings = [state.standing(seat) for seat in range(state.seats)]
    ranks = places(standings)
    players = [
        Player(f"seat {seat}", tuple(_items(state, seat)), state.score(seat), ranks[seat])
        for seat in range(state.seats)
    ]
    remarks = ["One of the games of a dynasty, whose points are added (KDO-26)."] if state.options.dynasty else []
    return Sheet(tuple(players), tuple(_ties(standings)), tuple(remarks))


def _items(state: State, seat: int) -> Iterator[Item]:
    kingdom, options = state.kingdoms[seat], state.options
    for area in kingdom.areas():
        words = f"{counted(area.squares, 'square')} × {counted(area.crowns, 'crown')}"
        yield Item("areas", TERRAINS[area.terrain], words, area.squares * area.crowns, ("KDO-20",))
    if options.central is not Central.NO:
        points = central_bonus(kingdom, options)
        where = "the middle of the frame" if options.central is Central.FRAME else "the middle of a full kingdom"
        words = f"the castle is {'' if points else 'not '}{where}"
        yield Item("bonuses", "centralised kingdom", words, points, ("KDO-24", "KDO-27"))
    if options.harmony:
        points = harmony_bonus(state.discarded[seat], options)
        words = _discarded(state.discarded[seat])
        yield Item("bonuses", "harmony", words, points, ("KDO-24", "KDO-28"))


def _discarded(discarded: Sequence[int]) -> str:
    if not discarded:
        return "nothing was discarded"
    if UNKNOWN in discarded:
        return f"{counted(len(discarded), 'domino', 'dominoes')} discarded"
    return f"discarded: {' '.join(map(str, discarded))}"


def _ties(standings: Sequence[Standing]) -> Iterator[Reason]:
    """KDO-21 to KDO-23: of each group of seats with equal points, what told them apart."""
    for group in tied([standing.points for standing in standings]):
        areas = {standings[seat].largest_area for seat in group}
        words = f"{seats(group)} have {counted(standings[group[0]].points, 'point')} each. "
        rules = ["KDO-21"]
        words += "Their largest areas: " + _each(group, [standings[seat].largest_area for seat in group])
        if still := tied([standings[seat].largest_area for seat in group]):
            rules.append("KDO-22")
            words += "; equal, so crowns count" if len(areas) == 1 else "; where these are equal, crowns count"
            equal = [group[index] for indices in still for index in indices]
            words += ": " + _each(sorted(equal), [standings[seat].crowns for seat in sorted(equal)])
            alike = [seat for seat in equal if standings.count(standings[seat]) > 1]
            if alike:
                rules.append("KDO-23")
                words += f"; {seats(sorted(alike))} are equal in that, too, and share the place"
        yield Reason(upper(f"{words}."), tuple(rules))


def _each(group: Sequence[int], values: Sequence[int]) -> str:
    return ", ".join(f"seat {seat} {value}" for seat, value in zip(group, values, strict=True))
