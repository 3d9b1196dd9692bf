"""Results in words: who won and why, the same wherever a game is shown, scored or reported. Knows no game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from referee.games.game import Ending
from referee.games.results import Contest, Result, Wait

_RULED: Final = {
    Ending.ADJUDICATED: "an arbiter adjudicated the game",
    Ending.VOIDED: "an arbiter voided the game",
    Ending.ABORTED: "the organiser aborted the game",
    Ending.REFEREE_FAULT: "the referee could not go on with the game",
    Ending.STALLED: "the game reached the limit of entries",
}
"""How a game gets a result, or an end without one, whatever its rules and forfeits make of it."""
_LEFT: Final = {
    Ending.RESIGNED: "seat {} resigned",
    Ending.FLAG: "seat {} ran out of time",
    Ending.DISCONNECTED: "seat {} was away for too long",
    Ending.CRASHED: "the program of seat {} ended",
    Ending.ILLEGAL_MOVES: "seat {} tried too many illegal moves",
    Ending.ADJUDICATED: "an arbiter put seat {} out",
    Ending.STALLED: "seat {} was put out because it held the game up",
}
"""How a seat forfeits."""


def outcome(result: Result | None, contest: Contest, *, waits: Wait | None = None) -> str:
    """Return who won and why: ``seat 0 wins: seat 1 resigned``, ``no result: an arbiter voided the game``.

    ``result``: what the contest and the position come to; None: the game goes on. ``waits``: for what, if it is not
    entered yet.
    """
    words = _who(result)
    if why := ", ".join(_reasons(result, contest)):
        words += f"{':' if result is not None else ';'} {why}"
    taken = " and ".join(_penalties(contest))
    if taken and contest.ruled is None and (result is None or result.scores):
        words += f", after an arbiter took {taken}"
    words += "".join(f"; {remark}" for remark in _about_ruled(contest, taken))
    return f"{words}; this waits for {waits}" if waits is not None else words


def _who(result: Result | None) -> str:
    if result is None:
        return "the game goes on"
    if not result.places:
        told = result.ending in _RULED and result.ending is not Ending.ADJUDICATED
        return "no result" if told else "the places are not known"
    winners = result.winners
    if not winners:
        return "no seat wins"
    return f"seat {winners[0]} wins" if len(winners) == 1 else f"{seats(winners)} share the first place"


def _reasons(result: Result | None, contest: Contest) -> Iterator[str]:
    if contest.ruled is not None:
        ending = contest.ruled.ending
        if ending is not Ending.ABORTED or not contest.out:
            yield _RULED.get(ending, f"a seat forfeited ({ending.words}), but not which one")
            return
        yield "the game was aborted"  # by whom is not known: it may be that no deck could be made (TBL-39)
    if result is not None and result.scores and result.ending is Ending.STALLED:
        yield "the game reached the limit of turns"
    yield from (_LEFT[ending].format(seat) for seat, ending in contest.out.items())


def _penalties(contest: Contest) -> Iterator[str]:
    """Yield points off, which count in a game that its rules end."""
    taken = ((seat, points) for seat, points in enumerate(contest.points_off) if points)
    yield from (f"{counted(points, 'point')} off seat {seat}" for seat, points in taken)


def _about_ruled(contest: Contest, taken: str) -> Iterator[str]:
    """Yield what somebody could stumble over in a result that an arbiter gave. ``taken``: points off."""
    ruled, before = contest.ruled, contest.overruled
    if ruled is None or ruled.ending not in (Ending.ADJUDICATED, Ending.VOIDED):
        return
    if before is not None and before != ruled:
        yield f"before that, {_RULED[before.ending]}"
    if taken and ruled.places:
        yield f"the result counts as it was given, without {taken}"
    if not ruled.follows_points:
        yield "its places are not those of its points"


def standings(scores: Sequence[int], places: Sequence[int]) -> str:
    """Return points and places by seat: ``seat 0 21 points, place 2, seat 1 place 1``; either may be empty."""
    if not places:
        return "no result"
    points = [f" {score} points," for score in scores] or [""] * len(places)
    by_seat = enumerate(zip(points, places, strict=True))
    return ", ".join(f"seat {seat}{told} place {place}" for seat, (told, place) in by_seat)


ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th", "6th")
"""Of places."""


def counted(number: int, what: str, more: str = "") -> str:
    """Return ``1 strike``, ``2 strikes``; ``more`` is the plural that is not made with an s."""
    return f"{number} {what if number == 1 else more or f'{what}s'}"


def named(words: Sequence[str]) -> str:
    """Return ``seat 0, seat 1 and seat 2``."""
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last


def seats(numbers: Sequence[int]) -> str:
    """Return ``seats 0, 1 and 2``; ``seat 0``."""
    return f"seat{'s' if len(numbers) > 1 else ''} {named([str(number) for number in numbers])}"
