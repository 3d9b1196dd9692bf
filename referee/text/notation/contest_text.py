"""What a text says of a game beside its moves: who forfeited, points off, the result. Knows no game.

    [Forfeits "1 resigned, 0 flag"]     seats that forfeited and how, in that order
    [Penalties "2 0 0"]                 points that an arbiter took off, by seat
    [Result "…"]                        * while the game goes on; the points where its rules ended it; else the ending
    [Points "9 1 5"]                    of an adjudication with points
    [Places "1 3 2"]                    by seat, wherever the points alone do not give them
    [Waits "protests"]                  the result is not entered yet: there is time to protest; or for "a ruling"

What is left out says nothing: no forfeits, no penalties, the result that these and the position give.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn

from referee.games import forfeits
from referee.games.game import Ending, Pending
from referee.games.results import Contest, Result, Wait
from referee.text.notation.errors import Kind, NotationError, cut, either
from referee.text.notation.grammar import place_of
from referee.text.notation.headers import FORFEITS, PENALTIES, PLACES, POINTS, RESULT, RUNNING, WAITS, Headers, line

_RULED: Final = (Ending.ADJUDICATED, Ending.VOIDED, Ending.ABORTED, Ending.REFEREE_FAULT)
"""What can end a game whatever it has come to by its moves and forfeits."""
_ENDINGS: Final = {ending.words: ending for ending in Ending}
_WAITS: Final = {"protests": Wait.PROTESTS, "a ruling": Wait.RULING}
_NUMBER: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,8})\Z", re.ASCII)
_FORFEIT: Final = re.compile(r"(?P<seat>0|[1-9][0-9]?) (?P<how>[a-z ]+)\Z", re.ASCII)


def value(result: Result | None) -> str:
    """Return what the header Result says: ``51 43``, an ending's words, or ``*`` for a game that goes on."""
    if result is None:
        return RUNNING
    if result.scores and result.ending is not Ending.ADJUDICATED:
        return _written(result.scores)
    return result.ending.words


def write(contest: Contest, seats: int, pending: Sequence[Pending], waits: Wait | None = None) -> list[str]:
    """Return the header lines of a contest where ``pending`` is awaited: Result, and what else says something.

    ``waits``: for what, if a result that the game has come to is not entered yet.
    """
    result = contest.result(seats, pending)
    values = {}
    if contest.out:
        values[FORFEITS] = ", ".join(f"{seat} {ending.words}" for seat, ending in contest.out.items())
    if any(contest.points_off):
        values[PENALTIES] = _written(contest.points_off)
    values[RESULT] = value(result)
    if contest.ruled is not None and contest.ruled.scores:
        values[POINTS] = _written(contest.ruled.scores)
    if result is not None and result.places and not (contest.is_plain and result.places == _by_points(result.scores)):
        values[PLACES] = _written(result.places)
    if result is not None and waits is not None:
        values[WAITS] = next(words for words, wait in _WAITS.items() if wait is waits)
    return [line(name, each) for name, each in values.items()]


def _by_points(scores: Sequence[int]) -> tuple[int, ...]:
    """Return the places that a reader finds who sees the points alone."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def _written(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def read(found: Headers, seats: int, pending: Sequence[Pending], told: Contest | None = None) -> Contest:
    """Return the contest that the headers tell where ``pending`` is awaited.

    ``told``: by the lines of a text that has acts of the table; its headers can add a result, and must agree otherwise.

    Raise ``NotationError`` for headers that are not of this form, ``Contradiction`` for those that are not so.
    """
    return _Reader(found, seats, pending, told or Contest()).contest()


def read_waits(found: Headers) -> Wait | None:
    """Return for what the result waits by the headers; None if they do not say so. Raise ``NotationError``."""
    if (told := found.text(WAITS)) is None:
        return None
    if told not in _WAITS:
        raise found.wrong(WAITS, either(list(_WAITS)))
    return _WAITS[told]


class Contradiction(NotationError):
    """A header that is not so. ``told``: as the text has it; ``contest``: what the other headers tell."""

    def __init__(self, found: Headers, name: str, expected: str, contest: Contest) -> None:
        token: Any = found.values[name]
        super().__init__(Kind.ILLEGAL, place_of(token), f"{name} {cut(token)}", expected)
        self.told = (found.text(name) or "") if name == RESULT else line(name, found.text(name) or "")
        self.contest = contest


class _Reader:
    def __init__(self, found: Headers, seats: int, pending: Sequence[Pending], told: Contest) -> None:
        self._found = found
        self._seats = seats
        self._pending = pending
        self._told = told
        self._played = told
        """Forfeits and penalties, and what the lines say that was ruled."""
        self._points = self._numbers(POINTS, "points")
        self._places = self._numbers(PLACES, "places")

    def contest(self) -> Contest:
        played = self._played = self._agreed(Contest(self._forfeits(), self._penalties()))
        contest = self._with_result(played, played.result(self._seats, self._pending))
        result = contest.result(self._seats, self._pending)
        if self._points and (contest.ruled is None or contest.ruled.scores != self._points):
            self._contradicted(POINTS, f'none, as they are of [{RESULT} "{Ending.ADJUDICATED.words}"] alone')
        places = result.places if result is not None else ()
        if self._places and self._places != places:
            self._contradicted(PLACES, _written(places) or "none, as there are none with this result")
        return contest

    def _agreed(self, headers: Contest) -> Contest:
        """Return what headers and lines say: what both say has to be the same."""
        told = self._told
        if told.out and headers.out and list(told.out.items()) != list(headers.out.items()):
            self._unlike(FORFEITS, ", ".join(f"{seat} {ending.words}" for seat, ending in told.out.items()))
        if told.points_off and headers.points_off and told.points_off != headers.points_off:
            self._unlike(PENALTIES, _written(told.points_off))
        return replace(told, out=told.out or headers.out, points_off=told.points_off or headers.points_off)

    def _with_result(self, played: Contest, reached: Result | None) -> Contest:
        """``reached``: what the game has come to by moves, forfeits and penalties."""
        told = self._found.text(RESULT)
        if told is None or (told == value(reached) and not self._is_another(reached)):
            return played
        endings = [*_RULED] if played.ruled is None else []
        if reached is None:
            # Of an end at the table an older text, or one by hand, may not say whose it was.
            endings += [Ending.STALLED, *(forfeits.ENDINGS if not played.out else ())]
        ending = _ENDINGS.get(told)
        if ending not in endings:
            words = dict.fromkeys([value(reached), *(each.words for each in endings)])
            self._contradicted(RESULT, either(words))
        if ending is not Ending.ADJUDICATED:
            return replace(played, ruled=Result(ending))
        if self._points and not self._places:
            self._contradicted(POINTS, f"{PLACES} with them")
        if not all(place == 1 + sum(other < place for other in self._places) for place in self._places):
            self._contradicted(PLACES, "1 for the best, for others one more than the seats before them")
        return replace(played, ruled=Result(ending, self._points, self._places))

    def _is_another(self, reached: Result | None) -> bool:
        """Return whether an adjudication gave something else than the forfeits, the last of which was one as well."""
        if reached is None or reached.ending is not Ending.ADJUDICATED or self._played.ruled is not None:
            return False
        return bool(self._points) or self._places not in ((), reached.places)

    def _forfeits(self) -> dict[int, Ending]:
        out: dict[int, Ending] = {}
        for word in (self._found.text(FORFEITS) or "").split(", ") if FORFEITS in self._found.values else ():
            forfeit = _FORFEIT.match(word)
            ending = _ENDINGS.get(forfeit["how"]) if forfeit else None
            if forfeit is None or ending not in forfeits.ENDINGS:
                how = either(each.words for each in forfeits.ENDINGS)
                raise self._found.wrong(FORFEITS, f"seats and how, such as 1 resigned, 0 flag; how is {how}")
            seat = int(forfeit["seat"])
            if seat >= self._seats or seat in out:
                raise self._found.wrong(FORFEITS, f"seats 0 to {self._seats - 1}, each once")
            out[seat] = ending
        return out

    def _penalties(self) -> tuple[int, ...]:
        points = self._numbers(PENALTIES, "points off")
        if min(points, default=0) < 0:
            raise self._found.wrong(PENALTIES, "0 or more")
        return points if any(points) else ()

    def _numbers(self, name: str, what: str) -> tuple[int, ...]:
        """Return the numbers; empty where there is no such header."""
        if name not in self._found.values:
            return ()
        words = (self._found.text(name) or "").split(" ")
        if len(words) != self._seats or not all(map(_NUMBER.match, words)):
            raise self._found.wrong(name, f"the {what} of {self._seats} seats, such as {_written(range(self._seats))}")
        return tuple(map(int, words))

    def _unlike(self, name: str, expected: str) -> NoReturn:
        token: Any = self._found.values[name]
        what = f"{name} {cut(token)}, which is not what the lines below say"
        raise NotationError(Kind.ILLEGAL, place_of(token), what, expected)

    def _contradicted(self, name: str, expected: str) -> NoReturn:
        raise Contradiction(self._found, name, expected, self._played)
