"""Input of an organiser: numbers, points, tables and results, typed, scanned or saved. Raises ``InputError``."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import parse_qs, urlsplit

from referee.games.game import InputError
from referee.text.notation.questions import QueryError, only, parse_object, required
from referee.tournament.game_logs import from_scores
from referee.tournament.names import Names
from referee.tournament.rules import TOURNAMENT, State
from referee.tournament.rules.acts import Amend, EnterResult, Result, Tables
from referee.tournament.rules.terms import PARTS
from referee.tournament.wire import CODECS
from referee.tournament.words import called
from referee.wire.strict import MalformedError

_SCANNED: Final = re.compile(r"([0-9]{7,20}) ([0-9]{1,3}) ([0-9]{1,4})\Z", re.ASCII)
"""An event's number has more digits than that of any round or table."""
_LINK: Final = re.compile(r"https?://", re.ASCII | re.IGNORECASE)


def numbers(option: str, text: str) -> tuple[int, ...]:
    """Return ``4,3`` or ``4 3`` as numbers."""
    words = text.replace(",", " ").split()
    if not words or ",," in text.replace(" ", "") or not all(map(_is_number, words)):
        raise InputError(option, f"{text[:80]!r}", "numbers with commas between them, such as 4,3")
    return tuple(map(int, words))


def parts(option: str, text: str) -> int:
    """Return points as 60ths: ``3``, ``2.5``, ``5/3``."""
    whole, point, rest = text.partition(".")
    top, stroke, bottom = text.partition("/")
    expected = "points such as 3, 2.5 or 5/3, in 60ths of a point"
    words = [whole, rest] if point else [top, bottom] if stroke else [text]
    if not all(map(_is_number, words)):
        raise InputError(option, f"{text[:80]!r}", expected)
    divisor = 10 ** len(rest) if point else int(bottom) if stroke else 1
    total = (int(whole + rest) if point else int(words[0])) * PARTS
    if not divisor or total % divisor:
        raise InputError(option, f"{text[:80]!r}", expected)
    return total // divisor


_LIKELY: Final = {2: (2, 1), 3: (5, 3, 1), 4: (5, 3, 2, 1), 5: (7, 5, 3, 2, 1), 6: (8, 6, 4, 3, 2, 1)}
"""Points that an organiser may mean, by the size of a table."""


def points_of(text: str, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return ``4: 5,3,2,1; 3: 5,3,1`` in the order of the sizes."""
    found: dict[int, tuple[int, ...]] = {}
    for each in text.split(";"):
        size, colon, places = each.partition(":")
        if not colon or len(named := numbers("--points", size)) != 1 or named[0] in found:
            raise InputError("--points", f"{each.strip()[:80]!r}", "a size and its points once, such as 4: 5,3,2,1")
        found[named[0]] = numbers("--points", places)
    if set(sizes) != set(found):
        missing, more = sorted(set(sizes) - set(found)), sorted(set(found) - set(sizes))
        what = "no points for tables of" if missing else "points for tables that --sizes does not have:"
        such = "; ".join(
            f"{size}: {','.join(map(str, found.get(size, _LIKELY.get(size, range(size, 0, -1)))))}" for size in sizes
        )
        listed = " and ".join(map(str, missing or more))
        raise InputError("--points", f"{what} {listed}", f'points for each size, such as --points "{such}"')
    return tuple(found[size] for size in sizes)


def tables_of(option: str, text: str) -> Tables:
    """Return ``1,4,2,7; 3,5,6``: tables with their players in the order of seats."""
    return tuple(numbers(option, each) for each in text.split(";"))


def shares_of(option: str, words: Iterable[str]) -> dict[int, bytes]:
    """Return shares of the draw, ``NUMBER=HEX`` each, by entrant."""
    shares: dict[int, bytes] = {}
    for word in words:
        number, equals, digits = word.partition("=")
        if not (equals and _is_number(number)) or int(number) in shares:
            raise InputError(option, f"{word[:40]!r}", "NUMBER=HEX, once for each entrant")
        shares[int(number)] = hexadecimal(option, digits)
    return shares


def hexadecimal(option: str, text: str) -> bytes:
    """Return what 64 hexadecimal digits say; nothing for none."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise InputError(option, f"{text[:80]!r}", "64 hexadecimal digits") from None


def result_of(places: str, scores: str, forfeited: str, *, as_options: bool = False) -> Result:
    """Return a table's result by sheet: from places, or from points of the game, by seat.

    ``as_options``: errors name them as a command does.
    """
    names = ("PLACES", "--scores", "--forfeited") if as_options else ("places", "scores", "forfeited")
    out = numbers(names[2], forfeited) if forfeited else ()
    points = numbers(names[1], scores) if scores else ()
    if not (places or points):
        raise InputError(names[0], "no result", f"places by seat, {names[1]}{', or --log' if as_options else ''}")
    return Result(numbers(names[0], places), points, out) if places else from_scores(points, out)


def table_of(option: str, text: str, event_id: int, round_: int) -> int:
    """Return the table that ``4`` names, or the code on its slip.

    A slip of another event or round is refused: its result belongs elsewhere.
    """
    if (said := scanned(text)) is None:
        if not _is_number(text) or not int(text):
            raise InputError(option, f"{text[:80]!r}", "a table's number, or what the code on its slip says")
        return int(text)
    event, of_round, table = said
    if event != event_id:
        raise InputError(option, f"a slip of event {event}", f"one of this event, {event_id}")
    if of_round != round_:
        raise InputError(option, f"a slip of round {of_round}", f"one of round {round_}")
    return table


def scanned(text: str) -> tuple[int, int, int] | None:
    """Return event, round and table of a slip's code, ``EVENT ROUND TABLE`` or a link; None if it is none."""
    text = text.strip()
    if found := _SCANNED.match(text):
        return int(found[1]), int(found[2]), int(found[3])
    if not _LINK.match(text):
        return None
    try:
        link = urlsplit(text)
        asked = parse_qs(link.query)
        words = [link.path.rsplit("/", 1)[-1], asked["round"][0], asked["table"][0]]
    except (ValueError, KeyError):
        return None
    is_code = _is_digits(words[0]) and all(map(_is_number, words[1:]))
    return (int(words[0]), int(words[1]), int(words[2])) if is_code else None


def slip_code(event_id: int, round_: int, table: int, web: str = "") -> str:
    """Return what the code on a slip says, which ``scanned`` reads. ``web``: the address of the pages, if any."""
    return f"{web.rstrip('/')}/event/{event_id}?round={round_}&table={table}" if web else f"{event_id} {round_} {table}"


def _is_number(word: str) -> bool:
    return _is_digits(word.strip()) and len(word.strip()) <= 6


def _is_digits(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= 20


# A result that was filled in on the page of an event, where the organiser's key is not: the small file in between.
#
# It is one JSON object, ``{"event": ID, "players": [NUMBER, …], "act": BASE64}``: the id of the event's log, who sits
# at the table by seat, and the exact bytes of the act.

MOST_BYTES: Final = 64 << 10
"""The largest file that is read."""
_FIELDS: Final = ("event", "players", "act")


def read_result(data: bytes, game_id: bytes, state: State) -> EnterResult | Amend:
    """Return the act in a file, of the event with this log as it is now. Raise ``InputError``.

    The act names seats: it is taken only if the same players sit there as when it was filled in.
    """
    try:
        found = parse_object(data, MOST_BYTES)
        only(found, frozenset(_FIELDS))
        event, players, text = (required(found, name, "file") for name in _FIELDS)
    except QueryError as error:
        raise InputError("RESULT", str(error), "a result as the page of the event saves it") from None
    if event != game_id.hex():
        raise InputError("event", "another event's", game_id.hex())
    try:
        act = CODECS[TOURNAMENT.version].decode_move(b64decode(str(text), validate=True), state.terms)
    except (MalformedError, binascii.Error, ValueError):
        raise InputError("act", "no act of an event", "the bytes of a result, in base64") from None
    if not isinstance(act, EnterResult | Amend):
        raise InputError("act", "an act that is no result", "a result, or another one in its place")
    if act.result.log is not None:
        raise InputError(
            "act", "a result with the log of a game", "one without: `referee event result --log` audits a log"
        )
    if players != list(seated(state, act)):
        where = f"round {act.round}, table {act.table}"
        raise InputError("players", f"others than sit there now at {where}", "a result that is filled in anew")
    return act


def seated(state: State, act: EnterResult | Amend) -> tuple[int, ...]:
    """Return who sits at the act's table, by seat. Raise ``InputError``: there is no such table."""
    if not (1 <= act.round <= len(state.rounds) and 1 <= act.table <= len(state.rounds[act.round - 1].tables)):
        raise InputError("act", f"round {act.round}, table {act.table}", "a table of this event")
    return state.rounds[act.round - 1].tables[act.table - 1]


def result_lines(state: State, act: EnterResult | Amend, names: Names) -> Iterator[str]:
    """Yield what is signed, a player a line: who sits there, and what they get. Raise ``InputError``."""
    result, players = act.result, seated(state, act)
    yield f"round {act.round}, table {act.table}" + (
        f", in place of what was entered: {act.reason}" if isinstance(act, Amend) else ""
    )
    for seat, place in enumerate(result.places):
        who = called(players[seat], names) if seat < len(players) else "no player"
        points = f", {result.scores[seat]} points in the game" if seat < len(result.scores) else ""
        out = ", forfeited" if seat in result.forfeited else ""
        yield f"player {seat + 1}: {who}: {f'place {place}' if place else 'did not come'}{points}{out}"
