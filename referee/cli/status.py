"""``referee status``: how a referee is doing, and which game waits for whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import grpc
import typer
from google.protobuf.message import Message
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from referee.cli.failure import Failure
from referee.cli.remote import DEFAULT_SERVER, SendInClear, Server, TlsCa, TlsCert, TlsKey, refused, security, token_of
from referee.log.errors import printable
from referee.service.files import TOKEN_FILE
from referee.v1 import game_pb2, status_service_pb2_grpc
from referee.v1 import status_service_pb2 as pb
from referee.wire.enums import word
from referee_clients.sdk.channel import bearer, open_channel
from referee_clients.sdk.errors import answer_of

_TIMEOUT_S = 5.0
_EVERY_S = 1.0
_PAGE = 1000
_WIDE = 120
"""Columns from which on a game's whole id is shown, as commands want it."""
_SHORT_ID = 8
_AROUND = 8
"""Lines that are not games."""
_LONG_MS = 60_000
"""A wait that an organiser may want to look into."""


def status(  # noqa: PLR0917 - typer reads options from the signature
    server: Server = DEFAULT_SERVER,
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="The referee's data directory, whose organiser token is used.")
    ] = Path("referee-data"),
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A token with scope audit, organise or admin, if it is not in DIR."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print all games once and exit, as without a terminal.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all games once as JSON and exit.")] = False,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """Show the open games, longest waiting first: who is awaited, since when, and who is connected.

    On a terminal the list is updated every second until Ctrl-C; if the referee does not answer, the list says so and
    tries again. Seats are shown by number and scribes by `s`; a dot marks who is not connected.

    Exit codes: 0 shown; 1 the referee cannot be reached, or refuses; 2 wrong usage.

    Example: `referee status --data club --json`
    """
    token = token_of(token_file or data / TOKEN_FILE)
    secured = security(server, tls_ca, tls_cert, tls_key, insecure, token)
    console = Console(highlight=False)

    async def run() -> None:
        async with open_channel(server, token, secured) as channel:
            asked = Asked(channel, token, server)
            if as_json:
                print(json.dumps(plain(await asked.all()), indent=2))
            elif once or not console.is_terminal:
                console.print(picture(await asked.all(), console.width))
            else:
                await _show(asked, console)

    try:
        asyncio.run(run())
    except KeyboardInterrupt:  # the way to leave
        return


class Asked:
    """A referee that is asked how it is."""

    def __init__(self, channel: grpc.aio.Channel, token: str, server: str) -> None:
        self._stub = status_service_pb2_grpc.StatusServiceStub(channel)
        self._metadata = bearer(token)
        self._server = server

    async def page(self, size: int, token: str = "") -> pb.GetStatusResponse:
        """Raise ``AioRpcError``; ``Failure`` for what asking again does not help."""
        request = pb.GetStatusRequest(page_size=size, page_token=token)
        try:
            response: pb.GetStatusResponse = await self._stub.GetStatus(
                request, timeout=_TIMEOUT_S, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:
            if answer_of(error).passes:
                raise
            raise self.refused(error) from None
        return response

    def refused(self, error: grpc.aio.AioRpcError) -> Failure:
        """Return what it said, or that there is no referee, or none just now."""
        return refused(self._server, error)

    async def all(self) -> pb.GetStatusResponse:
        """Return every page. Raise ``Failure``."""
        try:
            found = page = await self.page(_PAGE)
            while page.next_page_token:
                page = await self.page(_PAGE, page.next_page_token)
                found.games.extend(page.games)
        except grpc.aio.AioRpcError as error:
            raise self.refused(error) from None
        games = {game.id: game for game in found.games}  # one that moved meanwhile came twice
        del found.games[:]
        found.games.extend(games.values())
        found.next_page_token = ""
        return found


async def _show(asked: Asked, console: Console) -> None:
    """For ever."""
    try:
        last, when, trouble = await asked.page(1), monotonic(), ""
    except grpc.aio.AioRpcError as error:
        raise asked.refused(error) from None
    with Live(console=console, auto_refresh=False, screen=True) as live:

        def draw() -> None:
            late_ms = round(1000 * (monotonic() - when))
            live.update(picture(last, console.width, console.height, trouble, late_ms), refresh=True)

        while True:
            asking = asyncio.create_task(asked.page(max(1, console.height - _AROUND)))
            while not (await asyncio.wait([asking], timeout=_EVERY_S))[0]:
                draw()
            try:
                last, when, trouble = asking.result(), monotonic(), ""
            except grpc.aio.AioRpcError as error:
                trouble = error.code().name
            draw()
            await asyncio.sleep(_EVERY_S)


def picture(
    found: pb.GetStatusResponse, width: int, height: int | None = None, trouble: str = "", late_ms: int = 0
) -> RenderableType:
    """``height``: lines, if there is not room for all; ``trouble``: why it is not the newest, but ``late_ms`` old."""
    parts: list[RenderableType] = [_head(found.server)]
    parts.append(Text(f"no answer ({trouble}) for {_age(late_ms)}; asking again" if trouble else "", "bold red"))
    shown = found.games if height is None else found.games[: max(1, height - _AROUND - len(found.set_aside))]
    parts.append(_games(shown, found.server.now_ms + late_ms, width) if shown else Text("no open games"))
    if (more := found.server.open_games - len(shown)) > 0:
        parts.append(Text(f"and {more} more, which have waited less", "dim"))
    parts += [
        Text(f"set aside: {game.id}: {printable(game.why)}", "red", overflow="ellipsis", no_wrap=True)
        for game in found.set_aside
    ]
    return Group(*parts)


def _head(server: pb.ServerStatus) -> Text:
    streams = f"PlayGame {server.players}, WatchSeat {server.seat_watchers}, WatchGame {server.watchers}"
    if server.solver_at_work or server.solver_waiting:
        streams += f"; solver: {server.solver_at_work} at work, {server.solver_waiting} waiting"
    acts = f"{server.acts_accepted} accepted, {server.acts_refused} refused, {server.acts_failed} failed"
    commits = "no commit in the last minute"
    if server.commit_median_us:
        median, p99 = server.commit_median_us / 1000, server.commit_p99_us / 1000
        commits = f"a commit takes {median:.1f} ms, 99% at most {p99:.1f} ms"
    text = Text(f"tile-referee {printable(server.version)}", "bold")
    if server.draining:
        text.append("  STOPPING", "bold red")
    text.append(f"  up {_age(server.now_ms - server.started_ms)}, open games {server.open_games}\n", "not bold")
    text.append(f"streams: {streams}\nacts: {acts}; {commits}", "not bold")
    return text


def _games(games: Sequence[pb.GameStatus], now_ms: int, width: int) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    wide = width >= _WIDE
    table.add_column("game", no_wrap=True)
    if wide:
        table.add_column("rules", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("entries", justify="right", no_wrap=True)
    table.add_column("since", justify="right", no_wrap=True)
    table.add_column("waits for")  # the only one that gives way
    table.add_column("connected", no_wrap=True)
    table.add_column("watchers", justify="right", no_wrap=True)
    for game in games:
        waited = max(0, now_ms - game.since_ms)
        cells: list[RenderableType] = [
            game.id if wide else game.id[:_SHORT_ID],
            *([printable(game.rules_id)] if wide else []),
            _state(game),
            str(game.size),
            Text(_age(waited), "yellow" if waited >= _LONG_MS else ""),
            _waits_for(game),
            _connected(game),
            str(game.watchers or ""),
        ]
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
    return table


def _state(game: pb.GameStatus) -> str:
    return word(game_pb2.GameState, game.state) if game.state else "…"


def _waits_for(game: pb.GameStatus) -> Text:
    """Return whose act is awaited; in red who is not connected."""
    text = Text(overflow="ellipsis", no_wrap=True)
    for number, seat in enumerate(game.seats):
        if seat.awaited:
            name = f"seat {number} {printable(seat.principal)}".rstrip() + (" (by a scribe)" if seat.scribed else "")
            here = game.scribe_connected if seat.scribed else seat.connected
            text.append(", " if text else "").append(name, "" if here else "red")
    if game.scribe_awaited:
        text.append(", " if text else "").append("a scribe, to declare", "" if game.scribe_connected else "red")
    return text


def _connected(game: pb.GameStatus) -> str:
    """Seat by their number, scribes by ``s``; a dot for whoever is not."""
    seats = [str(i) if seat.connected else "·" for i, seat in enumerate(game.seats) if not seat.scribed]
    has_scribe = game.scribe_connected or game.scribe_awaited or any(seat.scribed for seat in game.seats)
    return " ".join([*seats, *(["s" if game.scribe_connected else "·"] if has_scribe else [])])


def _age(ms: float) -> str:
    """Return ``12 s``, ``3:07``, ``1:03:07`` or ``2 d 01:03``."""
    seconds = max(0, int(ms // 1000))
    if seconds < 60:
        return f"{seconds} s"
    minutes, hours, days = seconds // 60 % 60, seconds // 3600 % 24, seconds // 86400
    if days:
        return f"{days} d {hours:02}:{minutes:02}"
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def plain(message: Message) -> dict[str, Any]:
    """Return every field by its name in the API; numbers as numbers, values of enums as their names."""
    return {field.name: _plain_field(getattr(message, field.name), field) for field in message.DESCRIPTOR.fields}


def _plain_field(value: Any, field: Any) -> Any:
    if field.is_repeated:
        return [plain(part) if field.message_type else part for part in value]
    if field.message_type:
        return plain(value)
    return field.enum_type.values_by_number[value].name if field.enum_type else value
