"""Results in words: the winner and the reason, the same wherever a game is shown, scored or reported. Knows no game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from referee.games.game import Ending
from referee.games.results import Contest, Result, Wait
from referee.text.words.catalogue import Words, load, player

IN_ENGLISH: Final = load("report")
"""The words on games in reports and beside them, in the default language."""

_RULED: Final = (Ending.ADJUDICATED, Ending.VOIDED, Ending.ABORTED, Ending.REFEREE_FAULT, Ending.STALLED)
"""The endings that give a result, or end a game without one, whatever its rules and forfeits say."""


def outcome(result: Result | None, contest: Contest, *, waits: Wait | None = None, say: Words = IN_ENGLISH) -> str:
    """Return the winner and the reason, as in ``player 1 wins: player 2 resigned``.

    ``result``: the result of the contest and the position; None: the game is not over. ``waits``: the reason, if it is
    not entered yet.
    """
    words = _who(result, say)
    if why := ", ".join(_reasons(result, contest, say)):
        words = f"{words}; {why}" if result is None else say("outcome.why", who=words, why=why)
    taken = list(_penalties(contest, say))
    if taken and contest.ruled is None and (result is None or result.scores):
        words += say("outcome.taken", taken=_joined(taken, say))
    words += "".join(f"; {remark}" for remark in _about_ruled(contest, taken, say))
    return f"{words}; {say(f'waits.{waits.name.lower()}')}" if waits is not None else words


def needs_words(result: Result | None, contest: Contest, waits: Wait | None = None) -> bool:
    """Return whether points and places alone do not say how it ended, so that ``outcome``, of the same, has to."""
    is_stalled = result is not None and result.ending is Ending.STALLED
    return not contest.is_plain or waits is not None or is_stalled


def _who(result: Result | None, say: Words) -> str:
    if result is None:
        return say("outcome.goes_on")
    if not result.places:
        told = result.ending in _RULED and result.ending is not Ending.ADJUDICATED
        return say("outcome.none" if told else "outcome.unknown")
    winners = result.winners
    if not winners:
        return say("outcome.nobody")
    if len(winners) == 1:
        return say("outcome.wins", player=winners[0])
    return say("outcome.share", players=winners)


def _reasons(result: Result | None, contest: Contest, say: Words) -> Iterator[str]:
    if contest.ruled is not None:
        ending = contest.ruled.ending
        if ending is not Ending.ABORTED or not contest.out:
            known = ending in _RULED
            yield _ruled(ending, say) if known else say("ruled.forfeit", ending=say(f"ending.{ending.name.lower()}"))
            return
        yield say("ruled.aborted.by_somebody")  # by whom is not known: it may be that no deck could be made (TBL-39)
    if result is not None and result.scores and result.ending is Ending.STALLED:
        yield say("ruled.turns")
    yield from (say(f"left.{ending.name.lower()}", player=seat) for seat, ending in contest.out.items())


def _ruled(ending: Ending, say: Words) -> str:
    return say(f"ruled.{ending.name.lower()}")


def _penalties(contest: Contest, say: Words) -> Iterator[str]:
    """Yield points off, which count in a game that its rules end."""
    taken = ((seat, points) for seat, points in enumerate(contest.points_off) if points)
    yield from (say("points_off", n=points, player=seat) for seat, points in taken)


def _joined(taken: Sequence[str], say: Words) -> str:
    return say("and").join(taken)


def _about_ruled(contest: Contest, taken: Sequence[str], say: Words) -> Iterator[str]:
    """Yield the oddities of a result that an arbiter gave. ``taken``: points off."""
    ruled, before = contest.ruled, contest.overruled
    if ruled is None or ruled.ending not in (Ending.ADJUDICATED, Ending.VOIDED):
        return
    if before is not None and before != ruled:
        yield say("outcome.before", what=_ruled(before.ending, say))
    if taken and ruled.places:
        yield say("outcome.as_given", taken=_joined(taken, say))
    if not ruled.follows_points:
        yield say("outcome.other_places")


def standings(scores: Sequence[int], places: Sequence[int], say: Words = IN_ENGLISH) -> str:
    """Return points and places of all: ``player 1: 21 points, place 2; player 2: place 1``; either may be empty."""
    if not places:
        return say("outcome.none")
    if not scores:
        return "; ".join(say("standing.place", player=seat, place=place) for seat, place in enumerate(places))
    by_seat = enumerate(zip(scores, places, strict=True))
    return "; ".join(say("standing", player=seat, n=score, place=place) for seat, (score, place) in by_seat)


ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th", "6th")
"""The ordinals of places."""


def counted(number: int, what: str, more: str = "") -> str:
    """Return ``1 strike``, ``2 strikes``; ``more`` is the plural that is not made with an s."""
    return f"{number} {what if number == 1 else more or f'{what}s'}"


def named(words: Sequence[str], say: Words = IN_ENGLISH) -> str:
    """Return ``Anna, player 2 and player 3``."""
    return say.listed(words)


def players(seats: Sequence[int], say: Words = IN_ENGLISH) -> str:
    """Return ``Anna, player 2 and player 3``."""
    return say.listed([player(say, seat) for seat in seats])
