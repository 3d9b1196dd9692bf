"""Games at a referee: found by id or page by page, and their files."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import grpc
from cyclopts import Parameter
from cyclopts.validators import Number

from referee.cli.shared import output
from referee.cli.shared.commands import word_of
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.names import beside
from referee.cli.shared.remote import patiently
from referee.log.intent import GAME_ID_TEXT, parse_game_id
from referee.log.names import Row, Shown, names_text
from referee.log.replay import Record
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1.game_service_pb2_grpc import GameServiceStub
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.names import MOST_GAMES, ask_names, rows_told, shown_names, told_names

GameId = Annotated[
    str,
    Parameter(name="GAME", help="The game's id, or its first 8 or more hexadecimal digits.", show_default=False),
]
SHORT_ID = 8
"""Digits of an id that are enough for a command."""
_SHORT = re.compile(rf"[0-9a-f]{{{SHORT_ID},31}}\Z")
_TIMEOUT_S = 15
_FILE_S = 60
_PAGE = 100
_SHOWN = 5
"""Games that are named if more than one begins so."""


class State(StrEnum):
    """The state of a game, in a word."""

    JOINING = "joining"
    DEALING = "dealing"
    PLAYING = "playing"
    PAUSED = "paused"
    ADJOURNED = "adjourned"
    WAITING = "waiting"
    OVER = "over"
    SET_ASIDE = "set aside"
    UNREADABLE = "unreadable"
    IN_DOUBT = "in doubt"


_STATES = {
    State.JOINING: game_pb2.GAME_STATE_JOINING,
    State.DEALING: game_pb2.GAME_STATE_REVEALING,
    State.PLAYING: game_pb2.GAME_STATE_PLAYING,
    State.PAUSED: game_pb2.GAME_STATE_PAUSED,
    State.ADJOURNED: game_pb2.GAME_STATE_ADJOURNED,
    State.WAITING: game_pb2.GAME_STATE_RESULT_OPEN,
    State.OVER: game_pb2.GAME_STATE_OVER,
    State.SET_ASIDE: game_pb2.GAME_STATE_SET_ASIDE,
    State.UNREADABLE: game_pb2.GAME_STATE_UNREADABLE,
    State.IN_DOUBT: game_pb2.GAME_STATE_IN_DOUBT,
}
_WORDS = {number: state for state, number in _STATES.items()}


StateOption = Annotated[
    State | None,
    word_of(State),
    Parameter(
        name="--state",
        metavar="STATE",
        help="Only games in this state: joining; dealing, while seats open their seeds; playing; paused or adjourned "
        "by an arbiter; waiting, for protests or a ruling, with the result known; over; set aside by the "
        "referee; unreadable, while its disk fails; in doubt, since the referee was restored from a copy. Games "
        "that are set aside or unreadable are in every list that they may belong to.",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class Filter:
    """The options that choose among all games."""

    event: Annotated[int | None, Parameter(metavar="N", help="Only games of this event.", validator=Number(gte=0))] = (
        None
    )
    round_: Annotated[int | None, Parameter(metavar="N", help="Only games of this round.", validator=Number(gte=0))] = (
        None
    )
    table: Annotated[int | None, Parameter(metavar="N", help="Only games at this table.", validator=Number(gte=0))] = (
        None
    )
    principal: Annotated[
        str,
        Parameter(
            metavar="NAME",
            help="Only games in which this principal has a seat. It needs a token of the principal, or one with scope "
            "audit, organise or admin.",
        ),
    ] = ""
    from_: Annotated[
        str,
        Parameter(metavar="DATE", help="Only games opened on this day or later (UTC), such as 2026-11-22."),
    ] = ""
    to: Annotated[str, Parameter(metavar="DATE", help="Only games opened on this day or earlier (UTC).")] = ""

    def request(self, state: State | None) -> pb.ListGamesRequest:
        """Return the question for the games that have all that is given. Raise ``Failure``."""
        numbers = (("--event", self.event, 64), ("--round", self.round_, 32), ("--table", self.table, 32))
        for option, number, most in numbers:
            if number is not None and number >= 1 << most:
                raise Failure(f"{option} {number}: expected at most {(1 << most) - 1}", EXIT_USAGE)
        return pb.ListGamesRequest(
            event_id=self.event,
            round=self.round_,
            table=self.table,
            principal=self.principal,
            opened_from_ms=_day_ms("--from", self.from_) if self.from_ else 0,
            opened_until_ms=_day_ms("--to", self.to, days=1) if self.to else 0,
            state=game_pb2.GAME_STATE_UNSPECIFIED if state is None else _STATES[state],
        )


def state_word(number: game_pb2.GameState.ValueType) -> str:
    """Return the state in a word; a dash for one that is not known."""
    return _WORDS.get(number, "–")


def unread_because(number: game_pb2.GameState.ValueType) -> str:
    """Return why the referee tells no more of a game that it lists; empty if it tells all."""
    match _WORDS.get(number):
        case State.SET_ASIDE:
            return "the referee cannot continue this game; ask its operator why"
        case State.UNREADABLE:
            return "the referee's disk fails, so it cannot read this game; try again later"
    return ""


def _day_ms(option: str, text: str, days: int = 0) -> int:
    """Return when the day begins, or the one ``days`` days later, in milliseconds since 1970; at least 1."""
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=days)
    except (ValueError, OverflowError):
        raise Failure(f"{option} {text!r}: expected a date such as 2026-11-22", EXIT_USAGE) from None
    return max(1, round(day.timestamp() * 1000))


@dataclass(frozen=True, slots=True)
class Games:
    """The games of one referee, on one channel. Methods raise ``Failure``."""

    server: str
    channel: grpc.aio.Channel
    token: str = ""

    async def every(self, request: pb.ListGamesRequest) -> AsyncIterator[game_pb2.Game]:
        """Yield the games that the request asks for, newest first, whatever page they are on."""
        request.page_size = _PAGE
        stub = GameServiceStub(self.channel)
        while True:
            page: pb.ListGamesResponse = await patiently(
                lambda: stub.ListGames(request, timeout=_TIMEOUT_S, metadata=bearer(self.token)), self.server
            )
            for game in page.games:
                yield game
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token


def check_id(text: str) -> None:
    """Raise ``Failure`` for what is neither an id nor the beginning of one."""
    if parse_game_id(text) is None and not _SHORT.match(text):
        expected = f"{GAME_ID_TEXT}, or the first {SHORT_ID} of them or more"
        raise Failure(f"game {text!r}: expected {expected}", EXIT_USAGE)


def whole_id(server: str, secured: Security, text: str) -> str:
    """Return the id of the game that is meant; only for one that is shortened ask the referee. Raise ``Failure``."""
    check_id(text)
    if parse_game_id(text) is not None:
        return text

    async def found() -> list[str]:
        async with open_channel(server, security=secured) as channel:
            return [game.id async for game in Games(server, channel).every(pb.ListGamesRequest(id_prefix=text))]

    return the_one(text, asyncio.run(found()))


def the_one(text: str, ids: Sequence[str]) -> str:
    """Return the only id. ``ids``: all that begin with the text. Raise ``Failure``."""
    if len(ids) == 1:
        return ids[0]
    if not ids:
        raise Failure(f"game {text}: the referee has no game whose id begins so")
    some = ", ".join(ids[:_SHOWN])
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    raise Failure(f"game {text}: {len(ids)} games begin so; expected more digits of one of {some}{more}", EXIT_USAGE)


async def file_of(channel: grpc.aio.Channel, server: str, game: str) -> bytes:
    """Return the game's file. Raise ``Failure``."""
    stub = GameServiceStub(channel)

    async def parts() -> bytes:
        return b"".join([part.chunk async for part in stub.GetLog(pb.GetLogRequest(game_id=game), timeout=_FILE_S)])

    return await patiently(parts, server)


def write_file(path: Path, data: bytes) -> None:
    """Write the file, whole or not at all. Raise ``Failure``."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None


# --- players' names ------------------------------------------------------------------------------------------------


async def names_at(channel: grpc.aio.Channel, server: str, games: Sequence[str]) -> dict[str, list[Row]]:
    """Return by game the names that the referee tells, for files. Raise ``Failure``."""
    found: dict[str, list[Row]] = {}
    for first in range(0, len(games), MOST_GAMES):
        some = games[first : first + MOST_GAMES]
        told = await patiently(partial(ask_names, channel, some), server)
        found |= {game: rows_told(game, names) for game, names in told.items()}
    return found


def save_names(rows: Sequence[Row], path: Path) -> None:
    """Write names beside the game's file, if there are any. Raise ``Failure``."""
    if rows:
        write_file(there := beside(path), names_text(rows).encode())
        output.write(f"{there}, the players' names\n")


async def names_now(channel: grpc.aio.Channel, record: Record, token: str = "") -> dict[int, Shown]:
    """Return the names of a game's players by seat. A referee that does not answer tells none."""
    game = record.game_id.hex()
    try:
        told = await told_names(channel, game, bearer(token))
    except ClientError:
        return {}
    return shown_names(record.open_data, game, told)
