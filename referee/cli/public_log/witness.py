"""``referee witness``: cosigns the checkpoints of other people's logs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from referee.cli.shared.arguments import address, new_private_key
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.log_policy import log_policy
from referee.log.errors import LogError
from referee.log.keys import PrivateKey
from referee.log.note import NAME_EXPECTED, is_name
from referee.server.service import logs

if TYPE_CHECKING:
    from referee.log.public.witness import Witness

_REQUESTS_PER_S = 20
"""The limit for one address."""
_AT_ONCE = 256
"""The most connections; further ones are answered 503."""


def witness(
    *,
    key: Annotated[
        Path,
        Parameter(
            metavar="FILE",
            help="The witness's private key (PEM); with --new it is made, if there is none.",
            show_default=False,
        ),
    ],
    policy: Annotated[
        Path,
        Parameter(
            name="--logs",
            metavar="POLICY",
            help="Whose checkpoints are cosigned: the log lines of a policy file.",
            show_default=False,
        ),
    ],
    data: Annotated[
        Path,
        Parameter(
            metavar="FILE",
            help="The record of all that the witness has signed. Never lose it, and never put an older copy back.",
            show_default=False,
        ),
    ],
    new: Annotated[bool, Parameter(help="Begin with an empty file: for a witness that never signed anything.")] = False,
    name: Annotated[
        str | None,
        Parameter(
            metavar="NAME",
            help="With --new: the witness's name, by which others know its key, such as club.example/witness.",
            show_default=False,
        ),
    ] = None,
    listen: Annotated[
        str, Parameter(metavar="HOST:PORT", help="Address to listen on; port 0 picks a free port.")
    ] = "127.0.0.1:8090",
    trusted_proxy: Annotated[
        list[str] | None,
        Parameter(
            metavar="ADDRESS",
            help="A proxy, or its network, whose X-Forwarded-For says who calls. Can be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, Parameter(name="--json", help="Print where the witness is, and its verifier key, as one line of JSON.")
    ] = False,
) -> None:
    """Cosign the checkpoints of other people's logs until Ctrl-C or SIGTERM (C2SP tlog-witness).

    A witness signs a checkpoint of a log only if everything that it signed before is still in it. So a log that shows
    different people different histories finds no witness for the second one. Two clubs that witness each other's logs
    need nothing else. Put a web server with TLS before it: `docs/public-log.md` shows how.

    It answers `POST /add-checkpoint`, and `GET /SHA-256-OF-ORIGIN/checkpoint` with the newest that it signed.

    Exit codes: 0 stopped; 1 a file or the address cannot be used, or the file of --data is not there; 2 wrong usage.

    Examples: `referee witness --new --name club.example/witness --key witness.pem --logs logs.policy --data
    witness.db`, then always `referee witness --key witness.pem --logs logs.policy --data witness.db`
    """
    from referee.log.public.witness import Witness, WitnessFailed, WitnessFile  # noqa: PLC0415 - few commands need it
    from referee_clients.web.server import CannotServe, bind  # noqa: PLC0415

    host, port = address("--listen", listen)
    logs_of = log_policy("--logs", policy)
    if not logs_of.logs:
        raise Failure(f"--logs {policy}: no log line; expected a log for each origin to cosign for", EXIT_USAGE)
    if new != (name is not None):
        raise Failure("--new and --name belong together: the name is given once, and kept in the file", EXIT_USAGE)
    if name is not None and not is_name(name):
        raise Failure(f"--name {name!r}: expected {NAME_EXPECTED}, such as club.example/witness", EXIT_USAGE)
    logs.configure()
    if new and data.exists():
        raise Failure(f"--data {data}: the file exists; expected a start without --new, or the name of a new file")
    private = _private(key, new=new)
    try:
        file = WitnessFile.open(data, private) if name is None else WitnessFile.make(data, name, private)
    except WitnessFailed as error:
        raise Failure(f"--data {error}") from None
    try:
        with bind(host, port) as bound:
            asyncio.run(_serve(Witness(file, private, logs_of), bound, trusted_proxy or [], as_json=as_json))
    except CannotServe as error:
        raise Failure(f"--listen {error}") from None
    except ValueError as error:
        raise Failure(f"--trusted-proxy: {error}", EXIT_USAGE) from None
    finally:
        file.close()


def _private(path: Path, *, new: bool) -> PrivateKey:
    if new and not path.exists():
        return new_private_key(path)
    try:
        return PrivateKey.load(path)
    except OSError as error:
        raise Failure(f"--key {path}: {error.strerror}") from None
    except LogError as error:
        raise Failure(f"--key {error.what}; expected {error.expected}") from None


async def _serve(witness: Witness, bound: socket, trusted: Sequence[str], *, as_json: bool) -> None:
    """Serve until a signal. Raise ``CannotServe``; ``ValueError`` for a value that is no proxy."""
    import uvicorn  # noqa: PLC0415 - few commands need it

    from referee.log.public.witness import application  # noqa: PLC0415
    from referee_clients.web.limits import Limits, LimitsMiddleware, Protocol  # noqa: PLC0415
    from referee_clients.web.server import Server, address_of, listen  # noqa: PLC0415

    limits = Limits(requests_per_s=_REQUESTS_PER_S)
    config = uvicorn.Config(
        LimitsMiddleware(application(witness), limits, trusted=trusted, below="/"),
        http=Protocol,
        ws="none",
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_AT_ONCE,
        timeout_graceful_shutdown=5,
    )
    config.load()
    listen(bound)
    at, verifier = address_of(bound, tls=False), str(witness.verifier)
    if as_json:
        print(json.dumps({"address": at, "verifier_key": verifier}), flush=True)
    else:
        print(f"witness at {at}")
        print(f"verifier key {verifier}", flush=True)
    await Server(config).serve(sockets=[bound])
