"""``referee games``, ``abort`` and ``name``: games are listed, one is ended without a result, a player gets a name."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import grpc
from cyclopts import Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from referee.cli.shared import output, remote_games
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.names import in_order, marked, name_lines, warn_alike
from referee.cli.shared.remote import Operated, refused
from referee.cli.shared.remote_games import SHORT_ID, Filter, Games, state_word, unread_because, whole_id
from referee.cli.shared.table import confirm
from referee.console import printable
from referee.games.game import InputError
from referee.log.codec import read_end
from referee.log.names import Shown, checked, seat_meant
from referee.telling.words import told_end
from referee.text.notation.times import moment
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1.game_service_pb2_grpc import GameServiceStub
from referee_clients.sdk.channel import bearer, open_channel
from referee_clients.sdk.errors import ClientError
from referee_clients.sdk.names import name_player, shown_names, told_names

_WIDE = 120
"""Columns from which on a game's whole id is shown, and when it ended."""


def games(
    *,
    chosen: Filter = Filter(),
    state: remote_games.StateOption = None,
    as_csv: Annotated[bool, Parameter(name="--csv", help="Print CSV, for a spreadsheet.")] = False,
    as_json: Annotated[bool, Parameter(name="--json", help="Print JSON.")] = False,
    token_file: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="A token, if it is not in DIR: with one the list has the principals."),
    ] = None,
    home: Operated = Operated(),
) -> None:
    """List the games of a referee, running and finished, newest first: event, round, table, state and result.

    No token is needed; with the organiser's the list also says which principals play and, where several referees run on
    one database, which node has a game that is not over. Times are UTC. Points, places and principals in CSV and JSON
    are in the order of the seats.

    Exit codes: 0 listed; 1 the referee cannot be reached, or refuses; 2 wrong usage.

    Examples: `referee games --data club --event 7 --round 2`, `referee games --from 2026-11-22 --state over --csv`
    """
    if as_csv and as_json:
        raise Failure("--csv and --json: expected only one of them", EXIT_USAGE)
    request = chosen.request(state)
    server = home.address
    token = home.token(token_file, needed=token_file is not None)
    secured = home.transport.security(server, token)

    async def ask() -> list[game_pb2.Game]:
        async with open_channel(server, token, secured) as channel:
            return [game async for game in Games(server, channel, token).every(request)]

    found = [_plain(game) for game in asyncio.run(ask())]
    if as_json:
        output.write(json.dumps(found, indent=2) + "\n")
    elif as_csv:
        output.write(_csv(found))
    elif not found:
        output.write("no such games\n")
    else:
        console = Console(highlight=False)
        with console.capture() as capture:
            console.print(_table(found, console.width))
        output.write(capture.get())


def _plain(game: game_pb2.Game) -> dict[str, Any]:
    """Return what a list says of a game, by the names of its columns."""
    return {
        "game": game.id,
        "rules": game.rules_id,
        "version": game.rules_version,
        "event": game.event_id if game.HasField("event_id") else None,
        "round": game.round if game.HasField("round") else None,
        "table": game.table if game.HasField("table") else None,
        "state": state_word(game.state),
        "opened": moment(game.opened_ms),
        "ended": moment(game.ended_ms),
        "principals": [seat.principal for seat in game.seats],
        "result": _result(game),
        "points": list(game.result.scores),
        "places": list(game.result.places),
        "protests": list(game.open_disputes),
        "entries": game.size,
        "node": game.node,
    }


def _result(game: game_pb2.Game) -> str:
    """Return who won and why, or why that is unknown.

    For a game that ended before outcomes were kept: how it ended, and the places.
    """
    if unread := unread_because(game.state):
        return unread
    if game.outcome or not game.HasField("result"):
        return game.outcome
    return told_end(read_end(game.result))


def _csv(found: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_plain(game_pb2.Game()))
    for game in found:
        writer.writerow(_cell(value) for value in game.values())
    return text.getvalue()


def _cell(value: Any) -> str:
    """Return a value in one cell; a list has its parts apart, and a dash for what is empty."""
    if isinstance(value, list):
        return " ".join(str(part) if part != "" else "-" for part in value) if any(p != "" for p in value) else ""
    return "" if value is None else str(value)


def _table(found: Sequence[dict[str, Any]], width: int) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    wide = width >= _WIDE
    always = {"game", "rules", "state", "opened", "result", *(["ended"] if wide else [])}
    sometimes = {"event", "round", "table", "principals", "node"}
    shown = [
        name for name in found[0] if name in always or (name in sometimes and any(_cell(game[name]) for game in found))
    ]
    for name in shown:
        table.add_column(name, no_wrap=name in ("game", "state", "opened", "ended"), overflow="fold")
    for game in found:
        cells = {**game, "game": game["game"] if wide else game["game"][:SHORT_ID]}
        for name in ("opened", "ended"):
            cells[name] = game[name][: len("2026-11-22 18:30" if wide else "2026-11-22")]
        table.add_row(*(Text(printable(_cell(cells[name]))) for name in shown))
    return table


_TIMEOUT_S = 15


def abort(
    game: Annotated[str, Parameter(help="The game's id.", show_default=False)],
    /,
    *,
    yes: Annotated[bool, Parameter(help="Do not ask for confirmation.")] = False,
    token_file: Annotated[
        Path | None, Parameter(metavar="FILE", help="The organiser's token, if it is not in DIR.")
    ] = None,
    home: Operated = Operated(),
) -> None:
    """End a game without a result, as its organiser. This closes the log, and discloses the deck of a dealt game.

    A game that has come to its end cannot be aborted, unless a protest or an appeal is open. An arbiter can end a game
    without a result too, and give a reason: `referee rule void`.

    Exit codes: 0 ended; 1 the game is over, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee abort 0197a1cb1db4c9da428632ae52ec26d7 --data club`
    """
    server = home.address
    token = home.token(token_file)
    secured = home.transport.security(server, token)
    game = whole_id(server, secured, game)
    confirm([f"this ends game {game} without a result, and cannot be undone"], sure=yes)

    async def call() -> pb.AbortGameResponse:
        async with open_channel(server, token, secured) as channel:
            request = pb.AbortGameRequest(game_id=game)
            found: pb.AbortGameResponse = await GameServiceStub(channel).AbortGame(
                request, timeout=_TIMEOUT_S, metadata=bearer(token)
            )
            return found

    try:
        ended = asyncio.run(call())
    except grpc.aio.AioRpcError as error:
        raise refused(server, error) from None
    print(f"game {game} is aborted after {ended.game.size} entries")


def name(
    game: remote_games.GameId,
    player: Annotated[str, Parameter(name="PLAYER", help="The player: p1, p2, … or a name; none: list them.")] = "",
    called: Annotated[str, Parameter(name="NAME", help="The player's name from now on.")] = "",
    /,
    *,
    erase: Annotated[bool, Parameter(help="Erase the name that is there.")] = False,
    yes: Annotated[bool, Parameter(help="Do not ask for confirmation.")] = False,
    token_file: Annotated[
        Path | None, Parameter(metavar="FILE", help="The organiser's token, if it is not in DIR.")
    ] = None,
    home: Operated = Operated(),
) -> None:
    """List the names of a game's players; name one, or erase a name, as the organiser.

    The names of `referee new --names` are proven by the game. One that is given later is shown as what the organiser
    says. An erased name is gone from the referee's database. Backups, exports, files that were fetched and pages that
    are open may have it still.

    Exit codes: 0 done; 1 the referee cannot be reached or refuses, or you did not confirm; 2 wrong usage.

    Examples: `referee name 0197a1cb`, `referee name 0197a1cb p2 "Béla Kiss"`, `referee name 0197a1cb "Béla Kiss"
    --erase`
    """
    changes = bool(called) or erase
    if bool(called) == erase and (player or erase):
        raise Failure("expected a player with a new name, or a player and --erase", EXIT_USAGE)
    server = home.address
    token = home.token(token_file, needed=None if changes else False)
    secured = home.transport.security(server, token)
    game = whole_id(server, secured, game)

    async def ask() -> tuple[int, dict[int, Shown]]:
        async with open_channel(server, token, secured) as channel:
            opened = (await GameServiceStub(channel).GetGame(pb.GetGameRequest(game_id=game), timeout=_TIMEOUT_S)).game
            told = await told_names(channel, game)
            return len(opened.seats), shown_names(opened.open, game, told)

    async def give(seat: int) -> pb.NamePlayerResponse:
        async with open_channel(server, token, secured) as channel:
            player = pb.PlayerName(seat=seat, name="" if erase else checked(called))
            return await name_player(channel, game, player, bearer(token))

    try:
        seats, names = asyncio.run(ask())
        if not changes:
            output.write("".join(f"{line}\n" for line in name_lines(names)) or "no names\n")
            return
        seat, _ = seat_meant(player, in_order({seat: found.name for seat, found in names.items()}, seats))
        before = marked(names[seat]) if seat in names else "without a name"
        what = "the name is erased" if erase else f"the name is {printable(called)} from now on"
        confirm([f"game {game}, p{seat + 1}, {before}: {what}"], sure=yes)
        answer = asyncio.run(give(seat))
    except grpc.aio.AioRpcError as error:
        raise refused(server, error) from None
    except InputError as error:
        raise Failure(str(error), EXIT_USAGE) from None
    except ClientError as error:
        raise Failure(str(error)) from None
    print(f"p{seat + 1} has no name now" if erase else f"p{seat + 1} is {printable(answer.player.name)}")
    for other in answer.alike:
        warn_alike(answer.player.name, names[other].name if other in names else f"p{other + 1}")
