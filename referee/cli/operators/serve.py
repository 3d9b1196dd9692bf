"""``referee serve``: a referee on a port."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from shutil import rmtree
from socket import socket
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import structlog
import typer

from referee.cli.operators.settings import ConfigFile, ShowConfig, show
from referee.cli.shared.arguments import address, check_origins, check_proxies, languages_named, pyodide_folder
from referee.cli.shared.failure import EXIT_USAGE, Failure
from referee.cli.shared.remote import Addresses, is_everywhere, problem_with
from referee.log.note import NAME_EXPECTED, is_name
from referee.process.pool import MEMORY_MIB
from referee.server.service import logs
from referee.server.service.calls import CALL_S
from referee.server.service.data import DataError, origin_of
from referee.server.service.files import LOG_VERIFIER_FILE, STORE_ADDRESS_FILE, check_address
from referee.server.service.limits import REQUESTS_PER_S, STREAMS
from referee.server.service.metrics import PATH
from referee.server.service.server import SOLVER_WORKERS, Config, ListenError, Server
from referee.server.service.tls import Certificates, Tls, TlsError
from referee.server.store.store import WentBack
from referee_clients.sdk.channel import TLS_SCHEME, Security, is_loopback
from referee_clients.web.origins import has_keys
from referee_clients.web.secure import Lack, lacks

if TYPE_CHECKING:
    from referee_clients.web.child import Gateway

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_WARN_DAYS = 14
_EXIT_TAKEN_OVER = 3


class LogFormat(StrEnum):
    """The form of the operator's log."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
    """The detail of the operator's log."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def serve(  # noqa: PLR0915, PLR0917 - typer reads options from the signature
    ctx: typer.Context,
    data: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            readable=False,
            help="Directory for games, the signing key and the organiser's token.",
            rich_help_panel="The directory",
        ),
    ] = Path("referee-data"),
    listen: Annotated[
        str,
        typer.Option(
            metavar="HOST:PORT",
            help="Address to listen on; port 0 picks a free port.",
            rich_help_panel="Network and TLS",
        ),
    ] = "127.0.0.1:50051",
    public: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address under which players reach the referee, such as club.example:50051; grpcs://HOST:PORT for "
            "TLS. Join strings carry it; by default they carry the address to listen on. Several that share games "
            "each give their own address first, then the others, with commas between.",
            show_default=False,
            rich_help_panel="Network and TLS",
        ),
    ] = "",
    origin: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The name under which the referee signs. A new directory takes it (by default "
            "referee.local) and keeps it for ever.",
            show_default=False,
            rich_help_panel="The directory",
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Allow addresses other than loopback without TLS, although tokens can then be read on the network.",
            rich_help_panel="Network and TLS",
        ),
    ] = False,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Speak TLS with this certificate and its chain (PEM). SIGHUP reloads it.",
            rich_help_panel="Network and TLS",
        ),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The certificate's private key (PEM).", rich_help_panel="Network and TLS"),
    ] = None,
    tls_client_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Require client certificates signed by one of these authorities (PEM); `referee "
            "token issue --cert` assigns a certificate to a principal.",
            rich_help_panel="Network and TLS",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Keep the games in this PostgreSQL database, such as postgresql://referee@db.example/club; the "
            "password comes from ~/.pgpass or a service file. DIR remembers it. By default they are in DIR.",
            show_default=False,
            rich_help_panel="PostgreSQL and several referees",
        ),
    ] = None,
    require_standby: Annotated[
        bool,
        typer.Option(
            "--require-standby",
            help="Let nothing out before a standby of the PostgreSQL database has it, too.",
            rich_help_panel="PostgreSQL and several referees",
        ),
    ] = False,
    marks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Record of what the referee signed, apart from the games; by default marks.db in "
            "DIR. On another disk it also detects that the whole directory was rolled back.",
            show_default=False,
            rich_help_panel="The directory",
        ),
    ] = None,
    seal_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Key of the secrets in the database, created if missing; by default seal.key in DIR. "
            "Keep it elsewhere so that a copy of the directory reveals no deck.",
            show_default=False,
            rich_help_panel="The directory",
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the public log into this folder, which any web server can serve: of every game the first and "
            "the last head.",
            show_default=False,
            rich_help_panel="The public log",
        ),
    ] = None,
    log_policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --log: publish a checkpoint only when the witnesses of this policy have signed it.",
            show_default=False,
            rich_help_panel="The public log",
        ),
    ] = None,
    requests_per_s: Annotated[
        float,
        typer.Option(
            metavar="N",
            min=0.01,
            help="Rate limit per caller, not counting acts; bursts may use ten seconds' worth.",
            rich_help_panel="Limits and the solver",
        ),
    ] = REQUESTS_PER_S,
    max_streams: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Limit of open streams per caller.", rich_help_panel="Limits and the solver"
        ),
    ] = STREAMS,
    call_timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.01,
            help="Time limit for every call that is not a stream.",
            rich_help_panel="Limits and the solver",
        ),
    ] = CALL_S,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve GET /metrics for Prometheus at this address: plain HTTP, without tokens, and "
            "only on loopback unless --insecure.",
            show_default=False,
            rich_help_panel="What the operator sees",
        ),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="With several referees on one PostgreSQL database: address of this machine at which the others reach "
            "this one, to pass on calls for its games. By default a free port of the host to listen on.",
            show_default=False,
            rich_help_panel="PostgreSQL and several referees",
        ),
    ] = None,
    web: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve the pages for browsers at this address, with this referee's games, as `referee web` does: in "
            "a process of its own, with a lower priority. With --tls-cert they speak TLS, too.",
            show_default=False,
            rich_help_panel="Pages",
        ),
    ] = None,
    web_origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL",
            help="With --web: an address under which people reach the pages by name, such as https://club.example. "
            "Can be repeated.",
            show_default=False,
            rich_help_panel="Pages",
        ),
    ] = None,
    web_trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="With --web: a proxy, or its network, whose X-Forwarded-For says who calls. Can be repeated.",
            show_default=False,
            rich_help_panel="Pages",
        ),
    ] = None,
    web_pyodide: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --web: a folder with Pyodide, as `make web-rules` brings it. With it, browsers also check the "
            "rules of a game file, and not only its signatures.",
            show_default=False,
            rich_help_panel="Pages",
        ),
    ] = None,
    web_languages: Annotated[
        str | None,
        typer.Option(
            metavar="en,LANG,...",
            help="With --web: the languages of the pages; who asks for none of them gets the first. By default those "
            "whose translation was read by somebody who speaks it: drafts are offered only by name.",
            show_default=False,
            rich_help_panel="Pages",
        ),
    ] = None,
    solver_workers: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Number of processes that prove and search for SolverService, started when needed; 0 "
            "disables the service.",
            rich_help_panel="Limits and the solver",
        ),
    ] = SOLVER_WORKERS,
    solver_memory: Annotated[
        int,
        typer.Option(
            metavar="MIB",
            min=256,
            help="Address space for each of these processes.",
            rich_help_panel="Limits and the solver",
        ),
    ] = MEMORY_MIB,
    log_format: Annotated[
        LogFormat,
        typer.Option(
            help="Format of the messages on standard error; auto is text on a terminal and JSON elsewhere.",
            rich_help_panel="What the operator sees",
        ),
    ] = LogFormat.AUTO,
    log_level: Annotated[
        LogLevel,
        typer.Option(help="Least severe messages to show on standard error.", rich_help_panel="What the operator sees"),
    ] = LogLevel.INFO,
    heartbeat: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=0.01,
            help="Silence after which watchers get a heartbeat.",
            rich_help_panel="Network and TLS",
        ),
    ] = 10.0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print where the referee listens as one line of JSON.",
            rich_help_panel="What the operator sees",
        ),
    ] = False,
    config_file: ConfigFile = None,  # noqa: ARG001 - it has been the options' default by now
    show_config: ShowConfig = False,
) -> None:
    """Run a referee until Ctrl-C or SIGTERM. However it stops, it loses nothing that it acknowledged.

    A signal finishes what is under way and closes every stream with the place to resume from; a second signal stops at
    once, like a power cut.

    When the referee is ready, it prints a line each for the address, for the file with the organiser's token, which
    the first start makes readable only by you (remove it to get a new one), for the file with the verifier key,
    which auditors and players need, with --log for the log and its own verifier key, with --metrics for the address
    of the metrics, and with --web for that of the pages. DIR remembers the addresses: commands with `--data DIR`
    need no `--server`.

    Exit codes: 0 stopped; 1 the directory or the address cannot be used; 2 wrong usage; 3 another referee has taken
    over the games, because this one was silent for too long.

    Example: `referee serve --data ./games`, and in another terminal `referee new --data ./games --seats 3`
    """
    if show_config:
        print(show(ctx))
        return
    host, _ = address("--listen", listen)
    certificates = _certificates(tls_cert, tls_key, tls_client_ca)
    if certificates is None and not insecure and not is_loopback(host):
        raise Failure(
            f"--listen {listen}: not a loopback address; expected TLS (--tls-cert, --tls-key), or --insecure",
            EXIT_USAGE,
        )
    if metrics is not None and not insecure and not is_loopback(address("--metrics", metrics)[0]):
        raise Failure(f"--metrics {metrics}: not a loopback address; expected one, or --insecure", EXIT_USAGE)
    if nodes is not None and is_everywhere(address("--nodes", nodes)[0]):
        raise Failure(f"--nodes {nodes}: no address to connect to; expected one that the others can reach", EXIT_USAGE)
    if nodes is not None and store is None and not (data / STORE_ADDRESS_FILE).exists():
        what = "the games are in a file, which no other referee can reach"
        raise Failure(f"--nodes {nodes}: {what}; expected --store with a database, or no --nodes", EXIT_USAGE)
    if public and (problem := problem_with(public, tls=certificates is not None)):
        raise Failure(f"--public {public!r}: {problem}", EXIT_USAGE)
    if origin is not None and not is_name(origin):
        raise Failure(f"--origin {origin!r}: expected {NAME_EXPECTED}, such as club.example", EXIT_USAGE)
    if store is not None:
        try:
            check_address(store)
        except ValueError as error:
            raise Failure(f"--store: {error}", EXIT_USAGE) from None
    of_pages = {
        "--web-origin": web_origin,
        "--web-trusted-proxy": web_trusted_proxy,
        "--web-pyodide": web_pyodide,
        "--web-languages": web_languages,
    }
    for option, value in of_pages.items():
        if web is None and value:
            raise Failure(f"{option} belongs to --web; expected both or neither", EXIT_USAGE)
    check_origins("--web-origin", web_origin or ())
    check_proxies("--web-trusted-proxy", web_trusted_proxy or ())
    if log is None and log_policy is not None:
        raise Failure("--log-policy belongs to --log; expected both or neither", EXIT_USAGE)
    if web is not None and tls_client_ca is not None:
        raise Failure(
            "--web shows no client certificate, which --tls-client-ca requires; expected one of the two", EXIT_USAGE
        )
    logs.configure(log_format, log_level)
    pages = _pages(
        web,
        web_origin or (),
        tls_cert,
        tls_key,
        web_pyodide,
        proxies=web_trusted_proxy or (),
        languages=web_languages,
    )
    is_new, made = False, list[Path]()
    try:
        is_new = not data.exists()
        if not is_new and not data.is_dir():
            raise Failure(f"--data {data}: this is a file; expected a directory, or the name of a new one", EXIT_USAGE)
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
            public=public,
            nodes=nodes or "",
            store=store,
            require_standby=require_standby,
            marks=marks,
            seal_key=seal_key,
            log=log,
            log_policy=log_policy,
            solver_workers=solver_workers,
            solver_memory_mib=solver_memory,
        )
        asyncio.run(_run(config, public, pages, as_json=as_json))
    except DataError as error:
        raise Failure(str(error)) from None
    except PermissionError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    except ListenError as error:
        # Another program was faster than this one. A database has taken the key already, so that stays.
        if is_new and store is None:
            rmtree(data, ignore_errors=True)
            for file in made:
                with suppress(OSError):
                    file.unlink()
        raise Failure(str(error)) from None


@dataclass(frozen=True, slots=True)
class _Pages:
    """The pages to serve beside the referee."""

    listening: socket
    address: str
    origins: Sequence[str]
    certificate: Path | None
    key: Path | None
    python: Path | None
    proxies: Sequence[str]
    languages: Sequence[str]

    @property
    def for_seats(self) -> str:
        """Return the origin at which seats can be played; empty if none is known."""
        own = [] if is_everywhere(urlsplit(self.address).netloc.rpartition(":")[0]) else [self.address]
        return next((origin.rstrip("/") for origin in (*self.origins, *own) if has_keys(origin)), "")

    def lacks(self) -> list[Lack]:
        """Return why browsers play no seats there."""
        return lacks(self.listening.getsockname()[0], self.origins, self.certificate, self.key)

    def warn(self) -> None:
        """Tell the operator."""
        log = structlog.get_logger("referee.pages")
        for lack in self.lacks():
            log.warning("pages lack something", key=lack.key, what=str(lack))

    def gateway(self, server: Server, where: str, shown: Certificates | None) -> Gateway:
        """Return what serves them. ``where``, ``shown``: the referee's address and certificates."""
        from referee_clients.web.child import Gateway  # noqa: PLC0415 - few referees need it
        from referee_clients.web.server import Settings  # noqa: PLC0415

        # The referee's own certificate is trusted, with any signature, and under any name by which it is reached here.
        security = Security() if shown is None else Security(ca=self.certificate, name=shown.name)
        settings = Settings(
            origins=self.origins,
            trusted=self.proxies,
            certificate=self.certificate,
            key=self.key,
            referee=Addresses.of(where, "").here,
            verifier=server.data.signer.verifier,
            token=server.gateway_token(),
            security=security,
            python=self.python,
            languages=self.languages,
        )
        return Gateway(self.listening, settings)


def _pages(
    web: str | None,
    origins: Sequence[str],
    certificate: Path | None,
    key: Path | None,
    python: Path | None,
    *,
    proxies: Sequence[str],
    languages: str | None,
) -> _Pages | None:
    if web is None:
        return None
    spoken = languages_named("--web-languages", languages)
    if python is not None:
        pyodide_folder(python)
    from referee_clients.web.server import CannotServe, address_of, bind  # noqa: PLC0415 - few referees need it

    try:
        listening = bind(*address("--web", web))
    except CannotServe as error:
        raise Failure(f"--web {error}") from error
    where = address_of(listening, tls=certificate is not None)
    return _Pages(listening, where, origins, certificate, key, python, proxies, spoken)


async def _run(config: Config, public: str, pages: _Pages | None, *, as_json: bool) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def stop() -> None:
        stopping.set()
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            # The next one ends the process, however it is stuck. Acknowledged acts are on disk.
            signal.signal(number, signal.SIG_DFL)

    # Before the first line is printed: its reader may send a signal.
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    # A full collection stops every game for its time. The program itself stays, and need not be looked at in one.
    gc.collect()
    gc.freeze()
    server = await Server.start(config)
    shown = config.certificates
    where = f"{TLS_SCHEME if shown is not None else ''}{server.address}"
    gateway = pages.gateway(server, where, shown) if pages is not None else None
    if gateway is not None:
        await _opened(server, gateway)
    if pages is not None:
        pages.warn()
    if shown is not None:
        loop.add_signal_handler(signal.SIGHUP, _reload, shown, gateway, pages)
        _warn(shown)
    _remember(config.data, Addresses.of(where, public, pages.for_seats if pages is not None else ""))
    log, log_verifier = server.public_log, config.data / LOG_VERIFIER_FILE
    metrics = f"http://{server.metrics_address}{PATH}" if server.metrics_address else None
    token, verifier = server.data.token_path, server.data.verifier_path
    if as_json:
        ready = {
            "address": where,
            "organiser_token_file": str(token) if token.exists() else None,
            "verifier_key_file": str(verifier),
            "log_verifier_key_file": str(log_verifier) if log is not None else None,
            "metrics": metrics,
            "web": pages.address if pages is not None else None,
            "web_lacks": [lack.told for lack in pages.lacks()] if pages is not None else [],
        }
        print(json.dumps(ready), flush=True)
    else:
        print(f"listening on {where}")
        print(
            f"organiser token in {token}" if token.exists() else "organiser token kept at another node of the cluster"
        )
        print(f"verifier key in {verifier}", flush=True)
        if log is not None:
            print(f"public log in {log.folder.path}, its verifier key in {log_verifier}", flush=True)
        if metrics is not None:
            print(f"metrics at {metrics}", flush=True)
        if pages is not None:
            print(f"pages at {pages.address}", flush=True)
    await _either(stopping, server.taken_over)
    await asyncio.gather(server.stop(), *([gateway.stop()] if gateway is not None else []))
    if isinstance(server.taken_over_by, WentBack):
        raise Failure(str(server.taken_over_by))
    if server.taken_over.is_set():
        raise Failure("another referee has taken over the games; this one has stopped", _EXIT_TAKEN_OVER)


async def _opened(server: Server, gateway: Gateway) -> None:
    """Let browsers come. Raise ``Failure``, with the referee stopped, if another program has the address by now."""
    from referee_clients.web.server import CannotServe  # noqa: PLC0415 - few referees need it

    try:
        gateway.start()
    except CannotServe as error:
        await server.stop()
        raise Failure(f"--web {error}") from error


async def _either(*events: asyncio.Event) -> None:
    """Return when one of them is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()


def _remember(data: Path, addresses: Addresses) -> None:
    try:
        addresses.remember(data)
    except OSError as error:  # games continue without
        log = structlog.get_logger("referee.serve")
        log.warning("address not remembered", error=str(error))


def _certificates(certificate: Path | None, key: Path | None, client_ca: Path | None) -> Certificates | None:
    if certificate is None or key is None:
        if certificate is key is client_ca is None:
            return None
        raise Failure("TLS: expected both --tls-cert and --tls-key", EXIT_USAGE)
    try:
        return Certificates(Tls(certificate, key, client_ca))
    except TlsError as error:
        raise Failure(str(error)) from None


def _warn(certificates: Certificates) -> None:
    """Tell the operator in time that clients will soon refuse the certificate."""
    if (left := certificates.days_left) < _WARN_DAYS:
        expires = f"{certificates.expires:%Y-%m-%d}"
        log = structlog.get_logger("referee.tls")
        log.warning("certificate expires soon", expires=expires, days_left=int(left))


def _reload(certificates: Certificates, gateway: Gateway | None, pages: _Pages | None) -> None:
    log = structlog.get_logger("referee.tls")
    try:
        certificates.reload()
    except TlsError as error:
        log.error("reloading the certificates failed", error=str(error))  # noqa: TRY400 - its line says it all
    else:
        log.info("certificates reloaded")
        if gateway is not None and pages is not None:
            gateway.renew()
            pages.warn()
        _warn(certificates)
