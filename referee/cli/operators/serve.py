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
from cyclopts import Group, Parameter
from cyclopts.validators import Number

from referee.cli.operators.settings import Sources, show
from referee.cli.shared.arguments import address, check_origins, check_proxies, languages_named, pyodide_folder
from referee.cli.shared.commands import Given
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


@Parameter(name="*", group=Group.create_ordered("The directory"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Directory:
    """The options of what is kept where."""

    data: Annotated[
        Path,
        Parameter(
            metavar="DIR",
            help="Directory for games, the signing key and the organiser's token.",
        ),
    ] = Path("referee-data")
    origin: Annotated[
        str | None,
        Parameter(
            metavar="NAME",
            help="The name under which the referee signs. A new directory takes it (by default "
            "referee.local) and keeps it for ever.",
            show_default=False,
        ),
    ] = None
    marks: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Record of what the referee signed, apart from the games; by default marks.db in "
            "DIR. On another disk it also detects that the whole directory was rolled back.",
            show_default=False,
        ),
    ] = None
    seal_key: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Key of the secrets in the database, created if missing; by default seal.key in DIR. "
            "Keep it elsewhere so that a copy of the directory reveals no deck.",
            show_default=False,
        ),
    ] = None


@Parameter(name="*", group=Group.create_ordered("Network and TLS"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """The options of how callers reach the referee."""

    listen: Annotated[
        str,
        Parameter(
            metavar="HOST:PORT",
            help="Address to listen on; port 0 picks a free port.",
        ),
    ] = "127.0.0.1:50051"
    public: Annotated[
        str,
        Parameter(
            metavar="ADDRESS",
            help="Address under which players reach the referee, such as club.example:50051; grpcs://HOST:PORT for "
            "TLS. Join strings carry it; by default they carry the address to listen on. Several that share games "
            "each give their own address first, then the others, with commas between.",
            show_default=False,
        ),
    ] = ""
    insecure: Annotated[
        bool,
        Parameter(
            help="Allow addresses other than loopback without TLS, although tokens can then be read on the network.",
        ),
    ] = False
    tls_cert: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Speak TLS with this certificate and its chain (PEM). SIGHUP reloads it.",
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        Parameter(metavar="FILE", help="The certificate's private key (PEM)."),
    ] = None
    tls_client_ca: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="Require client certificates signed by one of these authorities (PEM); `referee "
            "token issue --cert` assigns a certificate to a principal.",
        ),
    ] = None
    heartbeat: Annotated[
        float,
        Parameter(
            metavar="SECONDS",
            help="Silence after which watchers get a heartbeat.",
            validator=Number(gte=0.01),
        ),
    ] = 10.0

    def checked(self) -> Certificates | None:
        """Return the certificates, if the referee speaks TLS. Raise ``Failure`` for what cannot be listened on."""
        host, _ = address("--listen", self.listen)
        certificates = _certificates(self.tls_cert, self.tls_key, self.tls_client_ca)
        if certificates is None and not self.insecure and not is_loopback(host):
            raise Failure(
                f"--listen {self.listen}: not a loopback address; expected TLS (--tls-cert, --tls-key), or --insecure",
                EXIT_USAGE,
            )
        if self.public and (problem := problem_with(self.public, tls=certificates is not None)):
            raise Failure(f"--public {self.public!r}: {problem}", EXIT_USAGE)
        return certificates


@Parameter(name="*", group=Group.create_ordered("Limits and the solver"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """The options of what callers may ask for."""

    requests_per_s: Annotated[
        float,
        Parameter(
            metavar="N",
            help="Rate limit per caller, not counting acts; bursts may use ten seconds' worth.",
            validator=Number(gte=0.01),
        ),
    ] = REQUESTS_PER_S
    max_streams: Annotated[
        int,
        Parameter(
            metavar="N",
            help="Limit of open streams per caller.",
            validator=Number(gte=1),
        ),
    ] = STREAMS
    call_timeout: Annotated[
        float,
        Parameter(
            metavar="SECONDS",
            help="Time limit for every call that is not a stream.",
            validator=Number(gte=0.01),
        ),
    ] = CALL_S
    solver_workers: Annotated[
        int,
        Parameter(
            metavar="N",
            help="Number of processes that prove and search for SolverService, started when needed; 0 "
            "disables the service.",
            validator=Number(gte=0),
        ),
    ] = SOLVER_WORKERS
    solver_memory: Annotated[
        int,
        Parameter(
            metavar="MIB",
            help="Address space for each of these processes.",
            validator=Number(gte=256),
        ),
    ] = MEMORY_MIB


@Parameter(name="*", group=Group.create_ordered("What the operator sees"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Messages:
    """The options of what the referee says of itself."""

    metrics: Annotated[
        str | None,
        Parameter(
            metavar="HOST:PORT",
            help="Serve GET /metrics for Prometheus at this address: plain HTTP, without tokens, and "
            "only on loopback unless --insecure.",
            show_default=False,
        ),
    ] = None
    log_format: Annotated[
        LogFormat,
        Parameter(
            help="Format of the messages on standard error; auto is text on a terminal and JSON elsewhere.",
        ),
    ] = LogFormat.AUTO
    log_level: Annotated[
        LogLevel,
        Parameter(help="Least severe messages to show on standard error."),
    ] = LogLevel.INFO
    as_json: Annotated[
        bool,
        Parameter(
            name="--json",
            help="Print where the referee listens as one line of JSON.",
        ),
    ] = False

    def check(self, network: Network) -> None:
        """Raise ``Failure``."""
        if self.metrics is None or network.insecure or is_loopback(address("--metrics", self.metrics)[0]):
            return
        raise Failure(f"--metrics {self.metrics}: not a loopback address; expected one, or --insecure", EXIT_USAGE)


@Parameter(name="*", group=Group.create_ordered("Pages"))
@dataclass(frozen=True, kw_only=True, slots=True)
class PagesBeside:
    """The options of the pages for browsers."""

    web: Annotated[
        str | None,
        Parameter(
            metavar="HOST:PORT",
            help="Serve the pages for browsers at this address, with this referee's games, as `referee web` does: in "
            "a process of its own, with a lower priority. With --tls-cert they speak TLS, too.",
            show_default=False,
        ),
    ] = None
    web_origin: Annotated[
        list[str] | None,
        Parameter(
            metavar="URL",
            help="With --web: an address under which people reach the pages by name, such as https://club.example. "
            "Can be repeated.",
            show_default=False,
        ),
    ] = None
    web_trusted_proxy: Annotated[
        list[str] | None,
        Parameter(
            metavar="ADDRESS",
            help="With --web: a proxy, or its network, whose X-Forwarded-For says who calls. Can be repeated.",
            show_default=False,
        ),
    ] = None
    web_pyodide: Annotated[
        Path | None,
        Parameter(
            metavar="DIR",
            help="With --web: a folder with Pyodide, as `make web-rules` brings it. With it, browsers also check the "
            "rules of a game file, and not only its signatures.",
            show_default=False,
        ),
    ] = None
    web_languages: Annotated[
        str | None,
        Parameter(
            metavar="en,LANG,...",
            help="With --web: the languages of the pages. The first is the default. Without this option, all languages "
            "whose translation a speaker has read: drafts are offered only by name.",
            show_default=False,
        ),
    ] = None

    def check(self, network: Network) -> None:
        """Raise ``Failure``."""
        options = {
            "--web-origin": self.web_origin,
            "--web-trusted-proxy": self.web_trusted_proxy,
            "--web-pyodide": self.web_pyodide,
            "--web-languages": self.web_languages,
        }
        for option, value in options.items():
            if self.web is None and value:
                raise Failure(f"{option} belongs to --web; expected both or neither", EXIT_USAGE)
        check_origins("--web-origin", self.web_origin or ())
        check_proxies("--web-trusted-proxy", self.web_trusted_proxy or ())
        if self.web is not None and network.tls_client_ca is not None:
            raise Failure(
                "--web shows no client certificate, which --tls-client-ca requires; expected one of the two", EXIT_USAGE
            )


@Parameter(name="*", group=Group.create_ordered("The public log"))
@dataclass(frozen=True, kw_only=True, slots=True)
class PublicLog:
    """The options of the public log."""

    log: Annotated[
        Path | None,
        Parameter(
            metavar="FOLDER",
            help="Write the public log into this folder, which any web server can serve: of every game the first and "
            "the last head.",
            show_default=False,
        ),
    ] = None
    log_policy: Annotated[
        Path | None,
        Parameter(
            metavar="FILE",
            help="With --log: publish a checkpoint only when the witnesses of this policy have signed it.",
            show_default=False,
        ),
    ] = None


@Parameter(name="*", group=Group.create_ordered("PostgreSQL and several referees"))
@dataclass(frozen=True, kw_only=True, slots=True)
class Database:
    """The options of games in a database."""

    store: Annotated[
        str | None,
        Parameter(
            metavar="ADDRESS",
            help="Keep the games in this PostgreSQL database, such as postgresql://referee@db.example/club; the "
            "password comes from ~/.pgpass or a service file. DIR remembers it. By default they are in DIR.",
            show_default=False,
        ),
    ] = None
    require_standby: Annotated[
        bool,
        Parameter(
            help="Let nothing out before a standby of the PostgreSQL database has it, too.",
        ),
    ] = False
    nodes: Annotated[
        str | None,
        Parameter(
            metavar="HOST:PORT",
            help="With several referees on one PostgreSQL database: address of this machine at which the others reach "
            "this one, to pass on calls for its games. By default a free port of the host to listen on.",
            show_default=False,
        ),
    ] = None

    def check(self, directory: Directory) -> None:
        """Raise ``Failure``."""
        if self.nodes is not None and is_everywhere(address("--nodes", self.nodes)[0]):
            raise Failure(
                f"--nodes {self.nodes}: no address to connect to; expected one that the others can reach", EXIT_USAGE
            )
        if self.nodes is not None and self.store is None and not (directory.data / STORE_ADDRESS_FILE).exists():
            what = "the games are in a file, which no other referee can reach"
            raise Failure(f"--nodes {self.nodes}: {what}; expected --store with a database, or no --nodes", EXIT_USAGE)
        if self.store is not None:
            try:
                check_address(self.store)
            except ValueError as error:
                raise Failure(f"--store: {error}", EXIT_USAGE) from None


def serve(
    *,
    given: Given,
    directory: Directory = Directory(),
    network: Network = Network(),
    limits: Limits = Limits(),
    messages: Messages = Messages(),
    beside: PagesBeside = PagesBeside(),
    public_log: PublicLog = PublicLog(),
    database: Database = Database(),
    sources: Sources = Sources(),
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
    if sources.show_config:
        print(show("serve", given))
        return
    certificates = network.checked()
    messages.check(network)
    database.check(directory)
    beside.check(network)
    if directory.origin is not None and not is_name(directory.origin):
        raise Failure(f"--origin {directory.origin!r}: expected {NAME_EXPECTED}, such as club.example", EXIT_USAGE)
    if public_log.log is None and public_log.log_policy is not None:
        raise Failure("--log-policy belongs to --log; expected both or neither", EXIT_USAGE)
    logs.configure(messages.log_format, messages.log_level)
    pages = _pages(beside, network)
    is_new, made = False, list[Path]()
    try:
        is_new = not directory.data.exists()
        if not is_new and not directory.data.is_dir():
            raise Failure(
                f"--data {directory.data}: this is a file; expected a directory, or the name of a new one", EXIT_USAGE
            )
        made = [file for file in (directory.marks, directory.seal_key) if file is not None and not file.exists()]
        config = Config(
            directory.data,
            network.listen,
            certificates,
            origin_of(directory.data, directory.origin),
            heartbeat_s=network.heartbeat,
            call_s=limits.call_timeout,
            requests_per_s=limits.requests_per_s,
            max_streams=limits.max_streams,
            metrics=messages.metrics or "",
            public=network.public,
            nodes=database.nodes or "",
            store=database.store,
            require_standby=database.require_standby,
            marks=directory.marks,
            seal_key=directory.seal_key,
            log=public_log.log,
            log_policy=public_log.log_policy,
            solver_workers=limits.solver_workers,
            solver_memory_mib=limits.solver_memory,
        )
        asyncio.run(_run(config, network.public, pages, as_json=messages.as_json))
    except DataError as error:
        raise Failure(str(error)) from None
    except PermissionError as error:
        raise Failure(f"{error.filename}: {error.strerror}") from None
    except ListenError as error:
        # Another program was faster than this one. A database has taken the key already, so that stays.
        if is_new and database.store is None:
            rmtree(directory.data, ignore_errors=True)
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


def _pages(beside: PagesBeside, network: Network) -> _Pages | None:
    if beside.web is None:
        return None
    languages = languages_named("--web-languages", beside.web_languages)
    if beside.web_pyodide is not None:
        pyodide_folder(beside.web_pyodide)
    from referee_clients.web.server import CannotServe, address_of, bind  # noqa: PLC0415 - few referees need it

    try:
        listening = bind(*address("--web", beside.web))
    except CannotServe as error:
        raise Failure(f"--web {error}") from error
    return _Pages(
        listening,
        address_of(listening, tls=network.tls_cert is not None),
        beside.web_origin or (),
        network.tls_cert,
        network.tls_key,
        beside.web_pyodide,
        beside.web_trusted_proxy or (),
        languages,
    )


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
