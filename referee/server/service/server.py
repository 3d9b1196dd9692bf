"""A running referee: from a data directory to a port, and down again without losing anything."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import cpu_count
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
from socket import SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, getaddrinfo, socket
from typing import Any

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from referee import __version__
from referee.api import OWNER
from referee.log.engines import installed
from referee.process.pool import MEMORY_MIB, Workers
from referee.server.live.context import Context
from referee.server.live.live_games import MAX_OPEN_GAMES, LiveGames
from referee.server.live.prover import Prover
from referee.server.live.scrub import Scrub
from referee.server.live.turns import Turns
from referee.server.live.watch import QUEUE_ITEMS
from referee.server.publishing.sequencer import Sequencer
from referee.server.service import calls, guard
from referee.server.service.access import AccessService, Revocations
from referee.server.service.adjudication import AdjudicationService
from referee.server.service.admission import Admission, ForeignServices, NodePort, add_reflection
from referee.server.service.arbiter import ArbiterService
from referee.server.service.auth import Authenticator
from referee.server.service.counters import Counters
from referee.server.service.data import Data, DataError, check_stopped, open_data
from referee.server.service.files import DEFAULT_ORIGIN
from referee.server.service.forwarder import Forwarder
from referee.server.service.game_service import GameService
from referee.server.service.health import Machine, Readiness
from referee.server.service.limits import REQUESTS_PER_S, STREAMS, Accounts
from referee.server.service.metrics import Exposition, RefereeCollector
from referee.server.service.permissions import SERVICES, Scope
from referee.server.service.public_log import open_log
from referee.server.service.rules import RulesService
from referee.server.service.solver import RLIMIT, SEARCH_S, Bounds, SolverService, proving_by
from referee.server.service.status import StatusService
from referee.server.service.tls import Certificates, NodeCredentials
from referee.server.service.tournaments import EventService
from referee.server.service.watch_stream import Heartbeats, WatchLimits
from referee.server.service.worker_queue import WorkerQueue
from referee.server.store.nodes import News
from referee.server.store.store import BUSY_S, StoreFailed, TakenOver, Upgrade

MAX_REQUEST_BYTES = 2 * calls.MAX_REQUEST_BYTES
"""gRPC's own limit, higher than ours: so it is we who refuse, and say why."""
MAX_RESPONSE_BYTES = 4 << 20
MAX_STREAMS = 1000
MAX_CONNECTIONS = 10_000
_QUESTIONS = "referee.server.service.solver_worker"
"""The module that the solver's workers load."""
_OWN_FILES = 100
"""Files of the store, of logs, of gRPC."""
SOLVER_WORKERS = max(2, min(4, (cpu_count() or 2) - 1))
"""One for searches and one for the rest, on any machine; they stand back for what else it does."""
GRACE_S = 3.0
"""Time for acts under way to be answered, and then for streams to be closed; the rest is cut."""
_CUT_S = 1.0
"""Time for other calls, such as those of clients that wait for the health to change."""

TLS_SCHEME = "grpcs://"
"""The scheme of an address with TLS, as clients write it."""
EVERYWHERE = ("0.0.0.0", "[::]")  # noqa: S104 - to find out that a referee listens there
"""Hosts to listen on that are no address for clients elsewhere."""

_log = structlog.get_logger("referee.server")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a referee."""

    data: Path
    listen: str = "127.0.0.1:0"
    certificates: Certificates | None = None
    """The certificates; None: without TLS."""
    origin: str = DEFAULT_ORIGIN
    heartbeat_s: float = 10.0
    queue_items: int = QUEUE_ITEMS
    write_s: float = calls.WRITE_S
    """The time that a stream may wait for a client that does not read."""
    call_s: float = calls.CALL_S
    """The time limit of a unary call."""
    requests_per_s: float = REQUESTS_PER_S
    """Requests a second of one principal, token or address; ``limits`` says what counts."""
    max_streams: int = STREAMS
    """Streams of one principal, token or address that may be open at one time."""
    max_connections: int = 0
    """0: as many as the process may have files, but for those that it needs itself."""
    max_watchers: int = 10_000
    max_watchers_of_game: int = 1_000
    max_open_games: int = MAX_OPEN_GAMES
    public: str = ""
    """Addresses under which clients reach the referee, its own first; empty: where it listens."""
    nodes: str = ""
    """The HOST:PORT to listen on for other referees of the same database; empty: a port of the same host."""
    metrics: str = ""
    """The HOST:PORT to listen on for requests for metrics; empty: none."""
    busy_s: float = BUSY_S
    """The time that a commit waits for another process's lock on the store."""
    store: str | None = None
    """Address of the database, if it is not a file in the directory, nor the one whose address the directory has."""
    marks: Path | None = None
    require_standby: bool = False
    """True if nothing is let out before a standby of the database has it."""
    seal_key: Path | None = None
    """The path of this file, if it is not in the directory."""
    log: Path | None = None
    """Folder of the public log; None: there is none."""
    log_policy: Path | None = None
    """The policy with the cosignatures that it is published with; None: without any."""
    solver_workers: int = SOLVER_WORKERS
    """Processes that answer SolverService at one time; 0: it is not served. One more makes certificates for games."""
    solver_memory_mib: int = MEMORY_MIB
    """Address space of each worker."""
    solver_rlimit: int = RLIMIT
    """Most of Z3's work for one question."""
    search_s: float = SEARCH_S
    """The time limit of a search."""


async def _at_most(until: float, waited: Awaitable[None]) -> None:
    """Wait for it, but not beyond that time of the loop."""
    with suppress(TimeoutError):
        async with asyncio.timeout_at(until):
            await waited


def _connections() -> int:
    files, _ = getrlimit(RLIMIT_NOFILE)
    return MAX_CONNECTIONS if files == RLIM_INFINITY else max(files // 2, min(files - _OWN_FILES, MAX_CONNECTIONS))


def _say(upgrade: Upgrade) -> None:
    kept = {"copy": str(upgrade.copy)} if upgrade.copy is not None else {}
    _log.info("upgrading", file=str(upgrade.path), version=upgrade.version, **kept)


class ListenError(Exception):
    """The address cannot be listened on."""


def check_free(address: str) -> None:
    """Raise ``ListenError`` if nothing can listen at HOST:PORT now, before a start has written anything."""
    host, _, port = address.rpartition(":")
    try:
        family, kind, _, _, place = getaddrinfo(host.strip("[]"), int(port), type=SOCK_STREAM)[0]
        with socket(family, kind) as probe:
            probe.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
            probe.bind(place)
    except OSError as error:
        raise ListenError(f"cannot listen on {address}: {_why_not(error)}") from error


def _why_not(error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return "another program listens there; expected another port, or that this program is stopped"
        case errno.EADDRNOTAVAIL:
            return "this machine has no such address; expected one of its own, such as 127.0.0.1"
        case errno.EACCES:
            return "a port below 1024 is only for root; expected another port"
        case _:
            return str(error.strerror)


def _cannot_listen(address: str) -> ListenError:
    """Return the error for an address at which listening has failed though it was free at the start."""
    try:
        check_free(address)
    except ListenError as error:
        return error
    return ListenError(f"cannot listen on {address}: another program was faster; expected another try")


class Server:
    """``start``, then ``stop``; each once."""

    def __init__(self, config: Config, data: Data) -> None:
        self.data = data
        self.address = ""
        """The address where it listens, once started."""
        self.node_address = ""
        """The address where the other nodes reach it; empty: none."""
        self._forwarder: Forwarder | None = None
        self._node_port: NodePort | None = None
        self.taken_over = asyncio.Event()
        """Another referee has its games, or its database went back, and this one can only stop."""
        self.taken_over_by: TakenOver | None = None
        """The reason, once it has come to that."""
        turns = Turns(held=self._acts_first)
        context = Context(data.store, data.signer, installed(), time=data.time, turns=turns)
        self.live_games = LiveGames(
            context, producer=f"tile-referee {__version__}", max_open_games=config.max_open_games
        )
        self.workers = Workers(memory_mib=config.solver_memory_mib, module=_QUESTIONS)
        self._worker_queue = WorkerQueue(config.solver_workers)
        self.prover = Prover(context, proving_by(self.workers))
        self.live_games.watch_for_proofs(self.prover.watcher)
        self.scrub = Scrub(self.live_games)
        self._machine = Machine(data)
        self.public_log: Sequencer | None = None
        self._config = config
        self._exposition: Exposition | None = None
        self._following: set[asyncio.Task[None]] = set()
        """Tasks that news of other nodes started and that are still running."""
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(
            options=(
                ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
                ("grpc.max_send_message_length", MAX_RESPONSE_BYTES),
                # Per connection; further streams wait at the client.
                ("grpc.max_concurrent_streams", MAX_STREAMS),
                # Further ones are closed at once: without file descriptors players would suffer, too.
                ("grpc.max_allowed_incoming_connections", config.max_connections or _connections()),
                # A client whose machine or network is gone is silent, and would keep its streams for hours.
                ("grpc.keepalive_time_ms", 60_000),
                ("grpc.keepalive_timeout_ms", 20_000),
                # A second server on the same port has to fail, not to share it.
                ("grpc.so_reuseport", 0),
                # A connection without a call takes a file descriptor; its client connects again when it has one.
                ("grpc.max_connection_idle_ms", 5 * 60_000),
                # A client that speaks neither HTTP/2 nor TLS is gone soon; by default after two minutes.
                ("grpc.server_handshake_timeout_ms", 10_000),
                # The default bans polite clients that ask every 10 s whether the connection still lives.
                ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
                ("grpc.keepalive_permit_without_calls", 1),
            )
        )

    @classmethod
    async def start(cls, config: Config) -> Server:
        """Open the directory, read every open game back, listen. Raise ``DataError``, ``ListenError``."""
        try:
            for address in filter(None, (config.listen, config.nodes, config.metrics)):
                check_free(address)
        except ListenError:
            check_stopped(config.data)  # started twice, which has words of its own
            raise
        data = open_data(
            config.data,
            config.origin,
            store=config.store,
            marks=config.marks,
            seal_key=config.seal_key,
            busy_s=config.busy_s,
            on_upgrade=_say,
            require_standby=config.require_standby,
        )
        try:
            server = cls(config, data)
            if config.log is not None:
                # First: if it knows more than the store, nothing that follows may be signed.
                server.public_log = await open_log(data, config.log, config.log_policy)
                server.live_games.context.own_keys.add(server.public_log.verifier.key)
            try:
                await server.live_games.start(data.alive_ms())
                await server.prover.load()
            except (StoreFailed, OSError) as error:
                raise DataError(str(error)) from error
            await server._listen()
            if server.public_log is not None:
                server.public_log.begin()
        except BaseException:
            await data.close()
            raise
        return server

    def _listen_to_store(self) -> None:
        store = self.data.store
        store.observe(self._counters.commits.done)
        store.when_taken_over(self._lost)
        store.nodes.when(self._heard)

    def _lost(self, error: TakenOver) -> None:
        self.taken_over_by = error
        self.taken_over.set()

    def _heard(self, news: News) -> None:
        """React to what other nodes did."""
        if news is News.REVOKED:
            self._revocations.heard()
        elif news is News.GONE:
            if self._forwarder is not None:
                self._forwarder.leave_the_dead()
        elif (node_games := self.live_games.node_games) is not None:
            node_games.heard(news)
            if news is News.GIVEN:
                self._follow(self.prover.load())

    def _follow(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._following.add(task)
        task.add_done_callback(self._followed)

    def _followed(self, task: asyncio.Task[None]) -> None:
        self._following.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.warning("news not followed", error=str(error))

    def _acts_first(self) -> bool:
        """Return whether acts are on their way to the disk this moment: then whatever can wait does."""
        return self.data.store.is_gathering

    async def _listen(self) -> None:
        config = self._config
        accounts = Accounts(config.requests_per_s, config.max_streams)
        now_ms = self.live_games.context.time.now_ms
        shown = config.certificates
        door = Authenticator(self.data.store, accounts, now_ms, certificates=shown is not None and shown.of_clients)
        self._door = door
        self._calls = calls.Calls(now_ms, call_s=config.call_s, write_s=config.write_s)
        watch_limits = WatchLimits(config.max_watchers, config.max_watchers_of_game)
        self._heartbeats = Heartbeats(config.heartbeat_s, self._acts_first)
        self._counters = Counters()
        self._revocations = Revocations(self.data.store, door, self._calls, now_ms)
        self._listen_to_store()
        games = GameService(
            self.live_games,
            queue_items=config.queue_items,
            watch_limits=watch_limits,
            heartbeats=self._heartbeats,
            acts=self._counters.acts,
            public_log=self.public_log,
        )
        self.adjudication = AdjudicationService(self.live_games, self._calls)
        self.events = EventService(self.live_games)
        servicers: dict[str, object] = {
            "referee.v1.GameService": games,
            "referee.v1.ArbiterService": ArbiterService(self.live_games, games),
            "referee.v1.EventService": self.events,
            "referee.v1.RulesService": RulesService(),
            "referee.v1.AccessService": AccessService(self.live_games, self.events, door, self._revocations),
            "referee.v1.AdjudicationService": self.adjudication,
            "referee.v1.StatusService": StatusService(
                self.data,
                self.live_games,
                counters=self._counters,
                heartbeats=self._heartbeats,
                watch_limits=watch_limits,
                worker_queue=self._worker_queue,
                public_log=self.public_log,
            ),
        }
        if config.solver_workers:
            beat_s = min(config.heartbeat_s, config.call_s / 3)
            bounds = Bounds(config.solver_rlimit, config.search_s, beat_s)
            solver = SolverService(self.live_games, self.workers, self._worker_queue, self._calls, bounds)
            servicers["referee.v1.SolverService"] = solver
        services = [service for service in SERVICES if service.full_name in servicers]
        names = [service.full_name for service in services]
        self.readiness = Readiness(self.data.store, self._health, ("", *names))
        turns = self.live_games.context.turns
        gate = guard.Gate(
            door, self._calls, self._counters.answered, self._counters.failed, turns, self.readiness.check
        )
        try:
            if shown is None:
                port = self._server.add_insecure_port(config.listen)
            else:
                port = self._server.add_secure_port(config.listen, shown.credentials())
        except RuntimeError as error:
            raise _cannot_listen(config.listen) from error
        self.address = f"{config.listen.rpartition(':')[0]}:{port}"
        ours = await self._join(gate, servicers, services)
        guests: Any = ForeignServices(gate)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, guests)
        add_reflection((*names, health.SERVICE_NAME), guests)
        self._server.add_generic_rpc_handlers([Admission([*ours, *guests.handlers], gate)])
        for name in ("", *names):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        if config.metrics:
            await self._expose(config.metrics, door)
        await self._server.start()
        self._begin()

    def _begin(self) -> None:
        """Begin all work beside the calls."""
        self.live_games.context.time.start()
        self.live_games.serve()
        self.data.store.nodes.serve(self.node_address)
        self._machine.start()
        self.readiness.start()
        self.prover.start()
        self.scrub.start()
        open_games = sum(1 for _ in self.live_games.open_games)
        where = {"nodes": self.node_address} if self.node_address else {}
        _log.info("serving", address=self.address, metrics=self.metrics_address, open_games=open_games, **where)

    async def _join(
        self, gate: guard.Gate, servicers: Mapping[str, object], services: Sequence[ServiceDescriptor]
    ) -> list[grpc.GenericRpcHandler]:
        """Return our services; with other nodes on the same database they pass on what is for those."""

        def handlers(through: guard.Gate) -> list[grpc.GenericRpcHandler]:
            return [guard.handler(service, servicers[service.full_name], through) for service in services]

        config, nodes = self._config, self.data.store.nodes
        if not nodes.shares:
            return handlers(gate)
        credentials = NodeCredentials(self.data.node_secret())
        self._forwarder = Forwarder(nodes, credentials)
        host = config.listen.rpartition(":")[0]
        listen = config.nodes or f"{host}:0"
        if listen.rpartition(":")[0] in EVERYWHERE:
            what = "the database takes several referees, which cannot reach this one at"
            raise ListenError(f"{what} {listen}; expected --nodes HOST:PORT with an address of this machine")
        own = config.public.partition(",")[0] or ("" if host in EVERYWHERE else self.address)
        scheme = "" if config.certificates is None or own.startswith(TLS_SCHEME) else TLS_SCHEME
        named = (*gate.named, (OWNER, scheme + own)) if own else gate.named
        others = replace(gate, door=gate.door.of_nodes(), named=named)
        self._node_port = NodePort(credentials, handlers(others), others)
        try:
            self.node_address = await self._node_port.start(listen)
        except RuntimeError as error:
            raise _cannot_listen(listen) from error
        return handlers(replace(gate, forward=self._forwarder))

    async def _expose(self, listen: str, door: Authenticator) -> None:
        collector = RefereeCollector(
            self.live_games,
            door,
            self._counters,
            self._heartbeats,
            self.data.store,
            self.prover,
            self.scrub,
            self._worker_queue,
            self.workers,
            self._machine,
            self._config.certificates,
            self._forwarder,
            self.public_log,
        )
        self._exposition = Exposition(collector, lambda: self.readiness.is_ready and not self.live_games.is_draining())
        host, _, port = listen.rpartition(":")
        try:
            await self._exposition.start(host, int(port))
        except OSError as error:
            raise _cannot_listen(listen) from error

    def gateway_token(self) -> str:
        """Return a token for a gateway that ends with this process, for one that is started beside it."""
        return self._door.lend("gateway", Scope.GATEWAY)

    @property
    def metrics_address(self) -> str:
        """The address of the metrics, once started; empty without any."""
        return self._exposition.address if self._exposition is not None else ""

    async def stop(self, grace_s: float = GRACE_S) -> None:
        """Refuse what is new, lets acts under way be answered, closes every stream, then all the rest.

        Clients have ``grace_s`` and a second to take what they are sent; the store has all the time that it needs.
        """
        until = asyncio.get_running_loop().time() + grace_s
        acts, streams = self._counters.acts, self._heartbeats.open
        _log.info("draining", acts=acts.under_way, streams=streams.total())
        self.live_games.refuse()
        self.data.store.nodes.decline()
        self._machine.stop()
        await self.readiness.stop()
        self._worker_queue.close()
        await self.prover.close()
        await self.scrub.close()
        await self.workers.stop()
        await self.adjudication.stop()
        await self.events.stop()
        # New calls are still taken, and get this answer: also those that ask for the health.
        await self._health.enter_graceful_shutdown()
        await _at_most(until - grace_s / 3, acts.through())
        self.live_games.drain()
        self._calls.drain()
        await _at_most(until, self._heartbeats.quiet())
        if cut := streams.total():
            _log.warning("streams cut", **{kind: count for kind, count in streams.items() if count})
        await self._server.stop(min(grace_s, _CUT_S) if not cut else 0)
        if self._node_port is not None:
            await self._node_port.stop(0)
        if self._forwarder is not None:
            await self._forwarder.close()
        self._heartbeats.stop()
        self._calls.stop()
        self.live_games.context.time.stop()
        await self.live_games.close()
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
        await self._revocations.close()
        if self.public_log is not None:
            await self.public_log.stop()
        await self.data.close()
        if self._exposition is not None:
            self._exposition.stop()
        _log.info("stopped", entries=self._counters.commits.entries)

    async def wait(self) -> None:
        """Wait until it is stopped."""
        await self._server.wait_for_termination()
