"""A result that was filled in on the page of an event, where the organiser's key is not: the small file in between.

It is one JSON object, ``{"event": ID, "players": [NUMBER, …], "act": BASE64}``: the id of the event's log, who sits at
the table by seat, and the exact bytes of the act.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from typing import Final

from referee.games.game import InputError
from referee.text.notation.questions import QueryError, only, parse_object, required
from referee.tournament.names import Names
from referee.tournament.rules import TOURNAMENT, State
from referee.tournament.rules.acts import Amend, EnterResult
from referee.tournament.wire import CODECS
from referee.tournament.words import called
from referee.wire.strict import MalformedError

MOST_BYTES: Final = 64 << 10
"""Of the file."""
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
    """Yield what is signed, a seat a line: who sits there, and what they get. Raise ``InputError``."""
    result, players = act.result, seated(state, act)
    yield f"round {act.round}, table {act.table}" + (
        f", in place of what was entered: {act.reason}" if isinstance(act, Amend) else ""
    )
    for seat, place in enumerate(result.places):
        who = called(players[seat], names) if seat < len(players) else "nobody"
        points = f", {result.scores[seat]} points in the game" if seat < len(result.scores) else ""
        out = ", forfeited" if seat in result.forfeited else ""
        yield f"seat {seat}: {who}: {f'place {place}' if place else 'did not come'}{points}{out}"
