"""``referee abort``: ends a game without a result."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import grpc
import typer

from referee.cli.shared.acting import confirm
from referee.cli.shared.finding import whole_id
from referee.cli.shared.remote import (
    DATA,
    Data,
    SendInClear,
    ServerOfData,
    TlsCa,
    TlsCert,
    TlsKey,
    refused,
    security,
    server_of,
    token_of,
)
from referee.server.service.files import TOKEN_FILE
from referee.v1 import game_service_pb2 as pb
from referee.v1.game_service_pb2_grpc import GameServiceStub
from referee_clients.sdk.channel import bearer, open_channel

_TIMEOUT_S = 15


def abort(  # noqa: PLR0917 - typer reads options from the signature
    game: Annotated[str, typer.Argument(help="The game's id.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    server: ServerOfData = None,
    data: Data = DATA,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The organiser's token, if it is not in DIR.")
    ] = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """End a game without a result, as its organiser. This closes the log, and discloses the deck of a dealt game.

    A game that has come to its end cannot be aborted, unless a protest or an appeal is open. An arbiter can end a game
    without a result too, and give a reason: `referee rule void`.

    Exit codes: 0 ended; 1 the game is over, the referee cannot be reached or refuses, or you did not confirm; 2 wrong
    usage.

    Example: `referee abort 0197a1cb1db4c9da428632ae52ec26d7 --data club`
    """
    server = server_of(server, data)
    token = token_of(token_file or data / TOKEN_FILE, needed=tls_cert is None or token_file is not None)
    secured = security(server, tls_ca, tls_cert, tls_key, insecure, token)
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
