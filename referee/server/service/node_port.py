"""The port at which the other nodes of a club bring calls that they pass on: nobody else can use it."""

from __future__ import annotations

from collections.abc import Sequence

import grpc

from referee.server.service.admission import Admission
from referee.server.service.forwarding import MOST_STREAMS
from referee.server.service.guard import Gate
from referee.server.service.node_tls import NodeCredentials

_MOST_BYTES = 8 << 20


class NodePort:
    """``start``, then ``stop``; each once."""

    def __init__(self, credentials: NodeCredentials, services: Sequence[grpc.GenericRpcHandler], gate: Gate) -> None:
        self._credentials = credentials
        self._server = grpc.aio.server(
            options=(
                ("grpc.max_receive_message_length", _MOST_BYTES),
                ("grpc.max_send_message_length", _MOST_BYTES),
                # All callers of a node are on two connections.
                ("grpc.max_concurrent_streams", MOST_STREAMS),
                ("grpc.so_reuseport", 0),
                # Nodes ask each other often for a sign of life, and on a busy machine what was apart comes together.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 10),
                ("grpc.http2.max_ping_strikes", 0),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.keepalive_time_ms", 10_000),
                ("grpc.keepalive_timeout_ms", 5_000),
                ("grpc.server_handshake_timeout_ms", 5_000),
            )
        )
        self._server.add_generic_rpc_handlers([Admission(services, gate)])

    async def start(self, listen: str) -> str:
        """Listen; return where others reach it. Raise ``RuntimeError`` if the address cannot be listened on."""
        port = self._server.add_secure_port(listen, self._credentials.of_server())
        await self._server.start()
        return f"{listen.rpartition(':')[0]}:{port}"

    async def stop(self, grace_s: float) -> None:
        """Take nothing more; what is under way has ``grace_s``."""
        await self._server.stop(grace_s)
