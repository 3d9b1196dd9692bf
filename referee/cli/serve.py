"""``referee serve``: a referee on a port."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from shutil import rmtree
from typing import Annotated

import structlog
import typer

from referee.cli.arguments import address
from referee.cli.failure import EXIT_USAGE, Failure
from referee.service import logs
from referee.service.data import DataError, origin_of
from referee.service.guard import CALL_S
from referee.service.limits import REQUESTS_PER_S, STREAMS
from referee.service.metrics import PATH
from referee.service.server import SOLVER_WORKERS, Config, ListenError, Server
from referee.service.tls import Certificates, Tls, TlsError
from referee.workers.pool import MEMORY_MIB
from referee_clients.sdk.channel import TLS_SCHEME, is_loopback

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class LogFormat(StrEnum):
    """How the operator is told."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
    """How much the operator is told."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def serve(  # noqa: PLR0917 - typer reads options from the signature
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR", readable=False, help="Where games, the signing key and the organiser's token are kept."
        ),
    ] = Path("referee-data"),
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Port 0 takes a free one.")] = "127.0.0.1:50051",
    origin: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The referee's name in what it signs. A new directory takes it (referee.local if not given) and "
            "keeps it for ever.",
            show_default=False,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Listen on other addresses than loopback, without TLS: tokens can be read."),
    ] = False,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Speak TLS, with this certificate and its chain (PEM). SIGHUP reads it again."
        ),
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="The certificate's private key (PEM).")] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Clients, too, have to show a certificate that one of these (PEM) vouches for; `referee token issue "
            "--cert` says whose it is.",
        ),
    ] = None,
    marks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where it keeps what it has signed, apart from the games; marks.db in the directory if not given. On "
            "another disk it notices a database that was set back together with its own.",
            show_default=False,
        ),
    ] = None,
    seal_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The key of the secrets in the database (made if there is none); seal.key in the directory if not "
            "given. Elsewhere, a copy of the directory opens no deck.",
            show_default=False,
        ),
    ] = None,
    requests_per_s: Annotated[
        float, typer.Option(metavar="N", min=0.01, help="Of one caller, beside acts; for ten seconds at once.")
    ] = REQUESTS_PER_S,
    max_streams: Annotated[int, typer.Option(metavar="N", min=1, help="Of one caller at a time.")] = STREAMS,
    call_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.01, help="For any call that is no stream.")
    ] = CALL_S,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Answer GET /metrics, for Prometheus, there: plain HTTP, without tokens; on loopback only, unless "
            "--insecure.",
            show_default=False,
        ),
    ] = None,
    solver_workers: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Processes that prove and search for SolverService at one time, beside the games; 0: it is not "
            "offered. They are started when they are needed.",
        ),
    ] = SOLVER_WORKERS,
    solver_memory: Annotated[
        int, typer.Option(metavar="MIB", min=256, help="Of address space, for each of them.")
    ] = MEMORY_MIB,
    log_format: Annotated[LogFormat, typer.Option(help="auto: text on a terminal, else JSON.")] = LogFormat.AUTO,
    log_level: Annotated[LogLevel, typer.Option(help="On standard error.")] = LogLevel.INFO,
    heartbeat: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.01, help="Of silence, before watchers get a sign of life.")
    ] = 10.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="What is printed when it is ready as one line of JSON, for programs.")
    ] = False,
) -> None:
    """Runs a referee until it is stopped with Ctrl-C or SIGTERM; nothing that it acknowledged is lost, however it ends.

    A signal closes every stream with the place to go on from, and what is under way is written; a second one ends it at
    once, as a power cut does.

    Prints three lines when it is ready: where it listens, the file with the organiser's token (made at the first start,
    readable by you only; remove it to get another) and the file with the verifier key, which auditors and players need.

    Exit codes: 0 stopped; 1 the directory or the address cannot be used; 2 wrong usage.

    Example: `referee serve --data ./games`, and in another terminal `referee new --data ./games --seats 3`
    """
    host, _ = address("--listen", listen)
    certificates = _certificates(tls_cert, tls_key, tls_client_ca)
    if certificates is None and not insecure and not is_loopback(host):
        raise Failure(f"--listen {listen}: not a loopback address; without TLS that needs --insecure", EXIT_USAGE)
    if metrics is not None and not insecure and not is_loopback(address("--metrics", metrics)[0]):
        raise Failure(f"--metrics {metrics}: not a loopback address; that needs --insecure", EXIT_USAGE)
    logs.configure(log_format, log_level)
    is_new, made = False, list[Path]()
    try:
        is_new = not data.exists()
        made = [file for file in (marks, seal_key) if file is not None and not file.exists()]
        config = Config(
            data,
            listen,
            certificates,
            origin_of(data, origin),
            heartbeat_s=heartbeat,
            call_s=call_timeout,
            requests_per_s=requests_per_s,
            max_streams=max_streams,
            metrics=metrics or "",
            marks=marks,
            seal_key=seal_key,
            solver_workers=solver_workers,
            solver_memory_mib=solver_memory,
        )
        asyncio.run(_run(config, as_json=as_json))
    except DataError as error:
        raise Failure(str(error)) from None
    except PermissionError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    except ListenError as error:
        if is_new:  # it has served nobody
            rmtree(data, ignore_errors=True)
            for file in made:
                with suppress(OSError):
                    file.unlink()
        raise Failure(str(error)) from None


async def _run(config: Config, *, as_json: bool) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def stop() -> None:
        stopping.set()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            # The next one ends the process, however it is stuck. What was acknowledged is on disk.
            signal.signal(number, signal.SIG_DFL)

    # Before the first line is printed: whoever reads it may send a signal.
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    server = await Server.start(config)
    if (shown := config.certificates) is not None:
        loop.add_signal_handler(signal.SIGHUP, _reload, shown)
    where = f"{TLS_SCHEME if shown is not None else ''}{server.address}"
    metrics = f"http://{server.metrics_address}{PATH}" if server.metrics_address else None
    token, verifier = server.data.token_path, server.data.verifier_path
    if as_json:
        ready = {
            "address": where,
            "organiser_token_file": str(token),
            "verifier_key_file": str(verifier),
            "metrics": metrics,
        }
        print(json.dumps(ready), flush=True)
    else:
        print(f"listening on {where}")
        print(f"organiser token in {token}")
        print(f"verifier key in {verifier}", flush=True)
        if metrics is not None:
            print(f"metrics at {metrics}", flush=True)
    await stopping.wait()
    await server.stop()


def _certificates(certificate: Path | None, key: Path | None, client_ca: Path | None) -> Certificates | None:
    if certificate is None or key is None:
        if certificate is key is client_ca is None:
            return None
        raise Failure("TLS needs both --tls-cert and --tls-key", EXIT_USAGE)
    try:
        return Certificates(Tls(certificate, key, client_ca))
    except TlsError as error:
        raise Failure(str(error)) from None


def _reload(certificates: Certificates) -> None:
    log = structlog.get_logger("referee.tls")
    try:
        certificates.reload()
    except TlsError as error:
        log.error("certificates not read again", error=str(error))  # noqa: TRY400 - its line says it all
    else:
        log.info("certificates read again")
