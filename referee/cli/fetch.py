"""``referee fetch``: a game's file from a referee."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import grpc
import typer

from referee.cli.arguments import game_id
from referee.cli.failure import Failure
from referee.cli.remote import DEFAULT_SERVER, SendInClear, Server, TlsCa, TlsCert, TlsKey, refused, security
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc
from referee_clients.sdk.channel import Security, open_channel

_TIMEOUT_S = 60


def fetch(  # noqa: PLR0917 - typer reads options from the signature
    game: Annotated[str, typer.Argument(help="The game's id: 32 hexadecimal digits.", show_default=False)],
    server: Server = DEFAULT_SERVER,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the file; by default GAME.gamelog.")
    ] = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """Fetch a game's file; for a running game, everything so far.

    No token is needed. Use `referee show` to read the file and `referee audit` to check it. An existing file is
    replaced once the new one is complete.

    Exit codes: 0 fetched; 1 the referee cannot be reached or does not have the game; 2 wrong usage.

    Example: `referee fetch 0197a1cb1db4c9da428632ae52ec26d7 --out final.gamelog`
    """
    game_id(game)
    secured = security(server, tls_ca, tls_cert, tls_key, insecure)
    path = out or Path(f"{game}.gamelog")
    try:
        data = asyncio.run(_fetch(server, secured, game))
        part = path.with_name(path.name + ".part")
        part.write_bytes(data)
        part.replace(path)
    except grpc.aio.AioRpcError as error:
        raise refused(server, error) from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    print(f"{path}, {len(data)} bytes")


async def _fetch(server: str, secured: Security, game: str) -> bytes:
    async with open_channel(server, security=secured) as channel:
        call = game_service_pb2_grpc.GameServiceStub(channel).GetLog(pb.GetLogRequest(game_id=game), timeout=_TIMEOUT_S)
        return b"".join([part.chunk async for part in call])
