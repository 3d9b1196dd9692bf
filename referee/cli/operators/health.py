"""``referee health``: whether a referee answers, for probes and containers."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import grpc
import typer
from grpc_health.v1 import health_pb2, health_pb2_grpc

from referee.cli.shared.failure import EXIT_FAILED
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
)
from referee_clients.sdk.channel import open_channel

_TIMEOUT_S = 5.0


def health(  # noqa: PLR0917 - typer reads options from the signature
    server: ServerOfData = None,
    data: Data = DATA,
    ready: Annotated[
        bool, typer.Option("--ready", help="Also fail if the referee cannot write, or is about to stop.")
    ] = False,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure: SendInClear = False,
) -> None:
    """Ask a referee whether it is well. It needs no token.

    Without `--ready` every answer will do: restart a referee that gives none. With `--ready` it has to be able to write
    acts: send no players to one that cannot. It takes acts again by itself when its database or its disk is back.

    Exit codes: 0 well; 1 not, or no answer; 2 wrong usage.

    Example: `referee health --ready --data club`
    """
    address = server_of(server, data)
    secured = security(address, tls_ca, tls_cert, tls_key, insecure)

    async def ask() -> health_pb2.HealthCheckResponse:
        async with open_channel(address, "", secured) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            answer: health_pb2.HealthCheckResponse = await stub.Check(
                health_pb2.HealthCheckRequest(), timeout=_TIMEOUT_S
            )
            return answer

    try:
        found = asyncio.run(ask())
    except grpc.aio.AioRpcError as error:
        raise refused(address, error) from None
    is_ready = found.status == health_pb2.HealthCheckResponse.SERVING
    print("the referee can write" if is_ready else "the referee answers, and cannot write now; its log says why")
    if ready and not is_ready:
        raise typer.Exit(EXIT_FAILED)
