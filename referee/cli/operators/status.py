"""``referee status`` and ``health``: how a referee is doing, and whether it answers at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import grpc
from cyclopts import Parameter
from google.protobuf.message import Message
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from referee.cli.shared.failure import EXIT_FAILED, EXIT_USAGE, Exit, Failure
from referee.cli.shared.remote import Operated, refused
from referee.cli.shared.remote_games import SHORT_ID, whole_id
from referee.console import printable
from referee.text.notation.outcomes import counted
from referee.v1 import status_service_pb2 as pb
from referee.v1 import status_service_pb2_grpc
from referee_clients.sdk.channel import bearer, open_channel
from referee_clients.sdk.errors import answer_of
from referee_clients.status import age, call_words, how_it_stands

_TIMEOUT_S = 5.0
_EVERY_S = 1.0
_PAGE = 1000
_WIDE = 120
"""Columns from which on a game's whole id is shown, as commands want it."""
_AROUND = 10
"""Lines that are not games."""
_OLD_BACKUP_MS = 86_400_000
"""A copy that is older than a day lacks an evening of games."""
_LONG_MS = 60_000
"""A wait that an organiser may want to look into."""


def status(
    game: Annotated[
        str,
        Parameter(
            name="GAME",
            help="Show only this game, by its id or its first 8 or more hexadecimal digits. The referee answers that "
            "has it, if several run on one database.",
            show_default=False,
        ),
    ] = "",
    /,
    *,
    token_file: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="A token with scope audit, organise, admin or arbiter, if it is not in DIR."),
    ] = None,
    once: Annotated[bool, Parameter(help="Print all games once and exit, as without a terminal.")] = False,
    as_json: Annotated[bool, Parameter(name="--json", help="Print all games once as JSON and exit.")] = False,
    callers: Annotated[
        bool,
        Parameter(
            help="Print who called most in the last minute instead, how many calls were refused, and the methods that "
            "the first one called. It needs a token with scope organise or admin.",
        ),
    ] = False,
    home: Operated = Operated(),
) -> None:
    """Show the open games, longest waiting first: how each stands, since when, and who is connected.

    On a terminal the list is updated every second until Ctrl-C; if the referee does not answer, the list says so and
    tries again. Seats are shown by number and scribes by `s`; a dot marks who is not connected. Where several
    referees run on one database, the first line has the node that answers.

    Exit codes: 0 shown; 1 the referee cannot be reached, or refuses; 2 wrong usage.

    Examples: `referee status --data club --json`, `referee status 3f2a90c1 --data club`, `referee status --callers`
    """
    if callers and game:
        raise Failure("--callers counts all calls; expected no GAME with it", EXIT_USAGE)
    server = home.address
    token = home.token(token_file, needed=True)
    secured = home.transport.security(server, token)
    game_id = whole_id(server, secured, game) if game else ""
    console = Console(highlight=False)

    async def run() -> None:
        async with open_channel(server, token, secured) as channel:
            asked = Asked(channel, token, server, game_id)
            if callers:
                found = await asked.callers()
                print(json.dumps(plain(found), indent=2)) if as_json else console.print(picture_of_callers(found))
            elif as_json:
                print(json.dumps(plain(await asked.all()), indent=2))
            elif once or not console.is_terminal:
                console.print(picture(await asked.all(), console.width, is_one=bool(game_id)))
            else:
                await _show(asked, console)

    try:
        asyncio.run(run())
    except KeyboardInterrupt:  # the way to leave
        return


class Asked:
    """A referee that is asked how it is."""

    def __init__(self, channel: grpc.aio.Channel, token: str, server: str, game_id: str = "") -> None:
        """``game_id``: the only game that is asked about; empty: all."""
        self.game_id = game_id
        self._stub = status_service_pb2_grpc.StatusServiceStub(channel)
        self._metadata = bearer(token)
        self._server = server

    async def page(self, size: int, token: str = "") -> pb.GetStatusResponse:
        """Raise ``AioRpcError``; ``Failure`` for what asking again does not help."""
        request = pb.GetStatusRequest(page_size=size, page_token=token, game_id=self.game_id)
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

    async def callers(self) -> pb.GetCallersResponse:
        """Return who called most. Raise ``Failure``."""
        try:
            response: pb.GetCallersResponse = await self._stub.GetCallers(
                pb.GetCallersRequest(), timeout=_TIMEOUT_S, metadata=self._metadata
            )
        except grpc.aio.AioRpcError as error:
            raise self.refused(error) from None
        return response

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


def picture_of_callers(found: pb.GetCallersResponse) -> RenderableType:
    """Return who called most, as a table, and what the first one called."""
    seconds = max(1, round(found.period_ms / 1000))
    head = f"in the last {seconds} s: {counted(found.calls, 'call')}, {found.refused} of them refused"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("caller", overflow="fold")
    for name in ("calls", "refused", "calls a second"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in found.callers:
        rate = f"{each.calls / seconds:.1f}"
        table.add_row(Text(printable(each.name)), str(each.calls), str(each.refused), rate)
    if not found.callers:
        return Text(head)
    first = found.callers[0]
    methods = (
        f"{each.method} {each.calls}" + (f" ({each.refused} refused)" if each.refused else "") for each in first.methods
    )
    return Group(Text(head), table, Text(f"{printable(first.name)}: {printable(', '.join(methods))}"))


async def _show(asked: Asked, console: Console) -> None:
    """Show the status until it is stopped."""
    try:
        last, when, trouble = await asked.page(1), monotonic(), ""
    except grpc.aio.AioRpcError as error:
        raise asked.refused(error) from None
    with Live(console=console, auto_refresh=False, screen=True) as live:

        def draw() -> None:
            late_ms = round(1000 * (monotonic() - when))
            is_one = bool(asked.game_id)
            live.update(picture(last, console.width, console.height, trouble, late_ms, is_one=is_one), refresh=True)

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
    found: pb.GetStatusResponse,
    width: int,
    height: int | None = None,
    trouble: str = "",
    late_ms: int = 0,
    *,
    is_one: bool = False,
) -> RenderableType:
    """``height``: lines, if there is not room for all; ``trouble``: why it is not the newest, but ``late_ms`` old;
    ``is_one``: one game was asked for.
    """
    count = len(found.games) if height is None else max(1, min(len(found.games), height - _AROUND))
    while True:
        drawn = _picture(found, count, width, trouble, late_ms, is_one=is_one)
        if height is None or count <= 1 or (excess := _lines(drawn, width) - height) <= 0:
            return drawn
        # A game takes some lines; the number is not known before it is drawn.
        count = max(1, count - max(1, excess // 4))


def _lines(drawn: RenderableType, width: int) -> int:
    console = Console(width=width, file=StringIO())
    return len(console.render_lines(drawn, console.options, pad=False))


def _picture(
    found: pb.GetStatusResponse, count: int, width: int, trouble: str, late_ms: int, *, is_one: bool
) -> RenderableType:
    """Return ``count`` games, and the parts around them."""
    parts: list[RenderableType] = [_head(found.server)]
    parts.append(Text(f"no answer ({trouble}) for {age(late_ms)}; asking again" if trouble else "", "bold red"))
    shown, now_ms = found.games[:count], found.server.now_ms + late_ms
    parts += [Text(line, "bold yellow") for game in found.games for line in _calls(game, now_ms)]
    if shown:
        parts.append(_games(shown, now_ms, width))
    elif not is_one:
        parts.append(Text("no open games"))
    elif not found.set_aside:
        parts.append(Text("the game is over; referee games lists its result"))
    if not is_one and (more := found.server.open_games - len(shown)) > 0:
        parts.append(Text(f"and {more} more, which have waited less", "dim"))
    parts += [Text(f"set aside: {game.id}: {printable(game.why)}", "red") for game in found.set_aside]
    if found.set_aside:
        parts.append(
            Text("games that are set aside accept nothing until you decide: stop the referee, then referee recover")
        )
    return Group(*parts)


def _calls(game: pb.GameStatus, now_ms: int) -> list[str]:
    """Return the open calls for an arbiter."""
    return [f"game {game.id[:SHORT_ID]}: {call_words(call)} ({age(now_ms - call.since_ms)} ago)" for call in game.calls]


def _head(server: pb.ServerStatus) -> Text:
    streams = f"PlayGame {server.players}, WatchSeat {server.seat_watchers}, WatchGame {server.watchers}"
    if server.solver_at_work or server.solver_waiting:
        streams += f"; solver: {server.solver_at_work} at work, {server.solver_waiting} waiting"
    acts = f"{server.acts_accepted} accepted, {server.acts_refused} refused"
    if server.acts_overtaken:
        acts += f", {server.acts_overtaken} came too late because another act was faster"
    acts += f", {server.acts_failed - server.acts_overtaken} failed"
    commits = "no commit in the last minute"
    if server.commit_median_us:
        median, p99 = server.commit_median_us / 1000, server.commit_p99_us / 1000
        commits = f"a commit takes {median:.1f} ms, 99% at most {p99:.1f} ms"
    text = Text(f"tile-referee {printable(server.version)}", "bold")
    if server.draining:
        text.append("  STOPPING", "bold red")
    text.append(f"  up {age(server.now_ms - server.started_ms)}, open games {server.open_games}", "not bold")
    text.append(f", node {printable(server.node)}\n" if server.node else "\n", "not bold")
    text.append(f"streams: {streams}\nacts: {acts}\n{commits}", "not bold")
    if server.log_trouble:
        text.append(f"\npublic log: {printable(server.log_trouble)}", "bold red")
    if server.HasField("marks_beside_games"):
        text.append("\n").append_text(_safety(server))
    return text


def _safety(server: pb.ServerStatus) -> Text:
    """Return when the games were last copied, and whether a restored disk would show."""
    if server.backup_ms:
        old_ms = max(0, server.now_ms - server.backup_ms)
        text = Text(f"newest backup: {age(old_ms)} ago", "yellow" if old_ms > _OLD_BACKUP_MS else "not bold")
    else:
        text = Text("no backup (referee backup)", "yellow")
    if server.marks_beside_games:
        text.append("; the marks share the games' disk (serve --marks)", "not bold")
    return text


def _games(games: Sequence[pb.GameStatus], now_ms: int, width: int) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    wide = width >= _WIDE
    table.add_column("game", no_wrap=True)
    if wide:
        table.add_column("rules", no_wrap=True)
    table.add_column("entries", justify="right", no_wrap=True)
    table.add_column("since", justify="right", no_wrap=True)
    table.add_column("connected", no_wrap=True)
    table.add_column("watchers", justify="right", no_wrap=True)
    table.add_column("how it stands", overflow="fold")  # the only one that gives way: it takes more lines
    for game in games:
        waited = max(0, now_ms - game.since_ms)
        cells: list[RenderableType] = [
            game.id if wide else game.id[:SHORT_ID],
            *([printable(game.rules_id)] if wide else []),
            str(game.size),
            Text(age(waited), "yellow" if waited >= _LONG_MS else ""),
            _connected(game),
            str(game.watchers or ""),
            how_it_stands(game, now_ms),
        ]
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
    return table


def _connected(game: pb.GameStatus) -> str:
    """Return the connected seats by number, and scribes as ``s``; a dot for each missing one."""
    seats = [str(i) if seat.connected else "·" for i, seat in enumerate(game.seats) if not seat.scribed]
    has_scribe = game.scribe_connected or game.scribe_awaited or any(seat.scribed for seat in game.seats)
    return " ".join([*seats, *(["s" if game.scribe_connected else "·"] if has_scribe else [])])


def plain(message: Message) -> dict[str, Any]:
    """Return every field by its name in the API; numbers as numbers, values of enums as their names."""
    return {field.name: _plain_field(getattr(message, field.name), field) for field in message.DESCRIPTOR.fields}


def _plain_field(value: Any, field: Any) -> Any:
    if field.is_repeated:
        return [plain(part) if field.message_type else part for part in value]
    if field.message_type:
        return plain(value)
    return field.enum_type.values_by_number[value].name if field.enum_type else value


_PROBE_S = 5.0


def health(
    *,
    ready: Annotated[bool, Parameter(help="Also fail if the referee cannot write, or is about to stop.")] = False,
    home: Operated = Operated(),
) -> None:
    """Ask a referee whether it is well. It needs no token.

    Without `--ready` every answer will do: restart a referee that gives none. With `--ready` it has to be able to write
    acts: send no players to one that cannot. It takes acts again as soon as its database or its disk is back.

    Exit codes: 0 well; 1 not, or no answer; 2 wrong usage.

    Example: `referee health --ready --data club`
    """
    address = home.address
    secured = home.transport.security(address)

    from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: PLC0415 - an extra, which the status does without

    async def ask() -> health_pb2.HealthCheckResponse:
        async with open_channel(address, "", secured) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            answer: health_pb2.HealthCheckResponse = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_PROBE_S)
            return answer

    try:
        found = asyncio.run(ask())
    except grpc.aio.AioRpcError as error:
        raise refused(address, error) from None
    is_ready = found.status == health_pb2.HealthCheckResponse.SERVING
    print("the referee can write" if is_ready else "the referee answers, but cannot write now; its log says why")
    if ready and not is_ready:
        raise Exit(EXIT_FAILED)
