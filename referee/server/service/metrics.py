"""The referee's numbers for Prometheus: counts and states, put together on request.

Served over plain HTTP, on the event loop, where all the numbers live; they contain no secrets and no players.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic

from prometheus_client import CollectorRegistry, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from referee import __version__
from referee.games import values
from referee.games.game import Ending
from referee.log.game import Phase
from referee.process.pool import Workers
from referee.server.live.live_games import LiveGames
from referee.server.live.prover import Prover
from referee.server.live.scrub import Scrub
from referee.server.publishing.sequencer import Sequencer
from referee.server.service.auth import Authenticator
from referee.server.service.counters import Counters
from referee.server.service.forwarder import Forwarder
from referee.server.service.health import Machine
from referee.server.service.tls import Certificates
from referee.server.service.watch_stream import Heartbeats
from referee.server.service.worker_queue import WorkerQueue
from referee.server.store.store import Store

PATH, LIVE, READY = "/metrics", "/livez", "/readyz"
_NOT_READY = ("503 Service Unavailable", "the referee cannot write now, or is about to stop\n")
_HEAD_BYTES = 8192
_PATIENCE_S = 5.0
"""The time for a request to arrive, and for its answer to leave."""
_STATES = {
    Phase.JOINING: "joining",
    Phase.REVEALING: "revealing",
    Phase.PLAYING: "playing",
    Phase.ENDED: "closing",
    Phase.CLOSED: "closing",
}
_THREADS = Path("/proc/self/task")
_KINDS = ("PlayGame", "WatchGame", "WatchSeat")


class RefereeCollector(Collector):
    """Everything of ours; ``collect`` on the event loop only."""

    def __init__(  # noqa: PLR0917 - everything that has numbers
        self,
        live_games: LiveGames,
        door: Authenticator,
        counters: Counters,
        heartbeats: Heartbeats,
        store: Store,
        prover: Prover,
        scrub: Scrub,
        worker_queue: WorkerQueue,
        workers: Workers,
        machine: Machine,
        certificates: Certificates | None = None,
        forwarder: Forwarder | None = None,
        public_log: Sequencer | None = None,
    ) -> None:
        self._live_games = live_games
        self._door = door
        self._counters = counters
        self._heartbeats = heartbeats
        self._store = store
        self._prover = prover
        self._scrub = scrub
        self._worker_queue = worker_queue
        self._workers = workers
        self._machine = machine
        self._certificates = certificates
        self._forwarder = forwarder
        self._public_log = public_log

    def collect(self) -> Iterator[Metric]:
        yield _gauge(
            "referee_build_info", "Always 1; the labels describe the running program.", "version", {__version__: 1}
        )
        yield GaugeMetricFamily(
            "referee_certificate_days_left",
            "Days until the referee's certificate expires; below 0: clients refuse it. Without TLS there is none.",
            value=None if self._certificates is None else self._certificates.days_left,
        )
        yield from self._acts()
        yield from self._commits()
        yield from self._games()
        yield from self._nodes()
        yield from self._standbys()
        yield from self._streams()
        yield from self._proofs()
        yield from self._of_log()
        yield from self._solver()
        yield from self._passed_on()
        yield from self._of_process()
        yield from self._of_machine()

    def _of_log(self) -> Iterator[Metric]:
        log = self._public_log
        published = log.published if log is not None else None
        yield GaugeMetricFamily(
            "referee_log_leaves",
            "Leaves of the public log that are written. Without a public log there is none of these metrics.",
            value=log.size if log is not None else None,
        )
        yield GaugeMetricFamily(
            "referee_log_published_leaves",
            "Leaves that the published checkpoint covers; if it stays behind, too few witnesses sign.",
            value=None if log is None else 0 if published is None else published.head.size,
        )
        yield GaugeMetricFamily(
            "referee_log_checkpoint_age_seconds",
            "Since the checkpoint was published, or found at the start.",
            value=None if published is None else monotonic() - published.at,
        )
        yield GaugeMetricFamily(
            "referee_log_halted",
            "1: the log went back, and the referee no longer signs it; a message says what to do. 0: all is well.",
            value=None if log is None else int(bool(log.halted)),
        )
        yield GaugeMetricFamily(
            "referee_log_damaged_files",
            "Published tiles and bundles that differ from the database, by the newest look at all of them. They "
            "are made again if the database has the root that was signed.",
            value=None if log is None else log.upkeep.damaged + int(log.upkeep.contradicts),
        )
        yield CounterMetricFamily(
            "referee_log_mended_files",
            "Published tiles and bundles that were damaged and are made again, since the start.",
            value=None if log is None else log.upkeep.mended,
        )
        answers = CounterMetricFamily(
            "referee_log_witness_answers",
            "Answers of each witness of the policy: cosigned; ahead (it has seen more leaves than there are); forked; "
            "unknown (it does not know the log); key (nor its key); silent; garbage.",
            labels=["witness", "outcome"],
        )
        if log is not None and log.witnesses is not None:
            for (name, outcome), count in sorted(log.witnesses.outcomes.items()):
                answers.add_metric([name, outcome.value], count)
        yield answers

    def _acts(self) -> Iterator[Metric]:
        acts = CounterMetricFamily(
            "referee_acts",
            "Acts by their way in (unary: SubmitIntent, stream: PlayGame) and result: accepted, refused "
            "by the rules, repeated (the first answer was given again), failed (for the reason), or left (whoever sent "
            "it did not wait for the answer).",
            labels=["way", "verdict", "reason"],
        )
        for way, verdict, reason, count in self._counters.verdicts():
            acts.add_metric([way, verdict, reason], count)
        yield acts
        seconds = HistogramMetricFamily(
            "referee_act_seconds", "From the arrival of an accepted act until it was durable.", labels=["way"]
        )
        for kind, taken in self._counters.acts.seconds.items():
            seconds.add_metric([kind], taken.buckets(), taken.total)
        yield seconds
        overhead = self._counters.acts.overhead
        yield HistogramMetricFamily(
            "referee_overhead_seconds",
            "Time per act that no clock was charged for, because the referee took it itself.",
            buckets=overhead.buckets(),
            sum_value=overhead.total,
        )
        yield CounterMetricFamily(
            "referee_delays",
            "Acts for which the referee itself took 2 s or more, which no clock was charged for; dockets name them.",
            value=self._counters.acts.delays,
        )
        yield GaugeMetricFamily(
            "referee_acts_under_way", "Acts that are not answered yet.", value=self._counters.acts.under_way
        )
        served = CounterMetricFamily(
            "referee_calls_served",
            "Calls that were answered without an error, and streams that have begun, by method.",
            labels=["method"],
        )
        for method, count in self._counters.served.items():
            served.add_metric([method], count)
        yield served
        errors = CounterMetricFamily(
            "referee_call_errors", "Calls that ended with an error, by method and reason.", labels=["method", "reason"]
        )
        for (method, reason), count in self._counters.errors.items():
            errors.add_metric([method, reason], count)
        yield errors

    def _commits(self) -> Iterator[Metric]:
        commits = self._counters.commits
        yield HistogramMetricFamily(
            "referee_commit_seconds",
            "Time of a commit in the store's thread, including its fsync and failed commits.",
            buckets=commits.seconds.buckets(),
            sum_value=commits.seconds.total,
        )
        yield HistogramMetricFamily(
            "referee_commit_entries",
            "Entries in a commit, over all games that share it.",
            buckets=commits.rows.buckets(),
            sum_value=commits.rows.total,
        )
        yield CounterMetricFamily("referee_commit_failures", "Commits that failed.", value=commits.failed)
        yield CounterMetricFamily("referee_entries", "Log entries that became durable.", value=commits.entries)
        yield GaugeMetricFamily(
            "referee_waiting_changes",
            "Changes of games that are not durable yet.",
            value=self._store.waiting,
        )
        yield GaugeMetricFamily(
            "referee_waiting_seconds",
            "For how long the oldest of them has waited; 0 without any.",
            value=self._store.waiting_s,
        )
        yield GaugeMetricFamily(
            "referee_stuck_seconds",
            "For how long nothing could be written although something was to; 0: that went well. Above 3 the referee "
            "is not ready.",
            value=self._store.stuck_s,
        )

    def _games(self) -> Iterator[Metric]:
        states = Counter(_STATES[game.phase] for game in self._live_games.open_games)
        every = {state: states[state] for state in dict.fromkeys(_STATES.values())}
        yield _gauge("referee_open_games", "Games that are not over, by phase.", "state", every)
        ended = CounterMetricFamily("referee_games_closed", "Games that came to their end.", labels=["ending"])
        for ending in Ending:
            ended.add_metric([ending.name.lower()], self._live_games.endings[ending.name])
        yield ended
        yield GaugeMetricFamily(
            "referee_games_set_aside",
            "Games that were set aside because the referee cannot continue them.",
            value=len(self._live_games.aside),
        )
        yield GaugeMetricFamily(
            "referee_games_in_doubt",
            "Games that may lack entries since a copy was restored; they wait for the organiser's decision.",
            value=len(self._store.marks.doubts),
        )
        yield CounterMetricFamily(
            "referee_scrubbed_games",
            "Games that are over and were read again, unasked, to see whether they are as they were.",
            value=self._scrub.games,
        )
        yield GaugeMetricFamily(
            "referee_scrub_ended_seconds",
            "When all games that are over had been read again for the last time, in seconds since 1970; 0: not yet "
            "since the start.",
            value=self._scrub.round_ended_ms / 1000,
        )

    def _nodes(self) -> Iterator[Metric]:
        nodes, sharing = self._store.nodes, self._live_games.node_games
        health = nodes.health
        yield GaugeMetricFamily(
            "referee_nodes", "Referees that run on the same database, this one included.", value=len(nodes.others) + 1
        )
        moved = CounterMetricFamily(
            "referee_games_moved",
            "Games that came from other referees (taken_up; those that were open at the start count as well), or went "
            "to them while this one runs (handed_over).",
            labels=["how"],
        )
        moved.add_metric(["taken_up"], sharing.taken_up if sharing is not None else 0)
        moved.add_metric(["handed_over"], sharing.handed_over if sharing is not None else 0)
        yield moved
        yield GaugeMetricFamily(
            "referee_silent_seconds",
            "Since this referee, one of several, last noted that it lives; after 3 s the others take its games.",
            value=None if health is None else health.silent_s,
        )
        yield CounterMetricFamily(
            "referee_reconnections",
            "Connections to the database of several referees that were given up.",
            value=0 if health is None else health.reconnections,
        )

    def _standbys(self) -> Iterator[Metric]:
        found = self._store.standbys
        is_waited_for = found.is_waited_for if found is not None else None
        yield GaugeMetricFamily(
            "referee_standby_named",
            "1: by its settings the database's server has commits wait for a standby. These metrics are there with "
            "games in PostgreSQL, as long as it can be asked.",
            value=None if found is None else int(found.named),
        )
        yield GaugeMetricFamily(
            "referee_waits_for_standby",
            "1: commits wait until a standby has them, and one follows. 0: none is named, or none follows.",
            value=None if is_waited_for is None else int(is_waited_for),
        )
        yield GaugeMetricFamily(
            "referee_standby_waived",
            "1: referees that require a standby continue without one, by referee cluster waive-standby.",
            value=None if found is None else int(found.waived),
        )
        standbys = GaugeMetricFamily(
            "referee_standbys",
            "Servers that follow the database's: waited_for by commits, or other.",
            labels=["kind"],
        )
        if found is not None and found.waited_for is not None and found.others is not None:
            standbys.add_metric(["waited_for"], found.waited_for)
            standbys.add_metric(["other"], found.others)
        yield standbys
        yield GaugeMetricFamily(
            "referee_standby_lag_bytes",
            "Bytes of the database's log that the nearest standby lacks. If commits wait for a standby that "
            "follows, only such standbys count.",
            value=None if found is None else found.lag_bytes,
        )

    def _streams(self) -> Iterator[Metric]:
        streams = {kind: self._heartbeats.open[kind] for kind in _KINDS}
        yield _gauge("referee_open_streams", "Streams by method.", "method", streams)
        ended = CounterMetricFamily(
            "referee_streams_ended",
            "Streams that have ended, by method and why: game_over, draining, revoked, broken (its client sent what is "
            "no act), left (its client went away); too_slow or stalled: cut off as its client did not keep up, or did "
            "not read at all.",
            labels=["method", "why"],
        )
        usual = [(kind, why) for kind in _KINDS for why in ("too_slow", "stalled")]
        for key in dict.fromkeys([*usual, *self._heartbeats.ended]):
            ended.add_metric(key, self._heartbeats.ended[key])
        yield ended

    def _passed_on(self) -> Iterator[Metric]:
        passed = CounterMetricFamily(
            "referee_passed_on",
            "Calls and streams for games of other referees of the club, by result.",
            labels=["outcome"],
        )
        settled = self._forwarder.settled if self._forwarder is not None else {}
        for outcome in ("answered", "not_owner", "no_answer"):
            passed.add_metric([outcome], settled.get(outcome, 0))
        yield passed
        yield GaugeMetricFamily(
            "referee_passed_on_streams",
            "Streams that are passed on to other referees of the club now.",
            value=self._forwarder.streams if self._forwarder is not None else 0,
        )

    def _proofs(self) -> Iterator[Metric]:
        proofs = CounterMetricFamily(
            "referee_proofs",
            "Certificates for files of games: made, given_up, or contradicts (those of the made ones that prove the "
            "opposite of what the referee said).",
            labels=["outcome"],
        )
        for outcome in ("made", "given_up", "contradicts"):
            proofs.add_metric([outcome], self._prover.settled[outcome])
        yield proofs
        yield GaugeMetricFamily(
            "referee_games_unproved", "Games that wait for certificates to be made.", value=self._prover.waiting
        )

    def _solver(self) -> Iterator[Metric]:
        worker_queue = CounterMetricFamily(
            "referee_solver_queries",
            "Questions to SolverService by method and result: proven, open (out of budget or time), "
            "refused (an impossible question), limited (too many at one time), failed, or left (the caller went away).",
            labels=["method", "result"],
        )
        for (method, result), count in self._worker_queue.settled.items():
            worker_queue.add_metric([method, result], count)
        yield worker_queue
        seconds = HistogramMetricFamily(
            "referee_solver_seconds",
            "Time from a question to SolverService to its last answer, including the wait for a worker.",
            labels=["method"],
        )
        for method, taken in self._worker_queue.seconds.items():
            seconds.add_metric([method], taken.buckets(), taken.total)
        yield seconds
        questions = {"waiting": self._worker_queue.waiting, "at_work": self._worker_queue.at_work}
        yield _gauge("referee_solver_questions", "Questions that wait for a worker or have one.", "state", questions)
        yield GaugeMetricFamily("referee_solver_workers", "Worker processes.", value=len(self._workers.pids))
        yield CounterMetricFamily(
            "referee_solver_workers_started", "Worker processes that were started.", value=self._workers.started
        )
        lost = CounterMetricFamily(
            "referee_solver_workers_lost",
            "Worker processes that ended before their time: died, hung, memory, garbled, fault (of the program), idle "
            "(without a question), or left (the caller did not wait).",
            labels=["why"],
        )
        for why in dict.fromkeys(["died", "hung", "memory", *self._workers.lost]):
            lost.add_metric([why], self._workers.lost[why])
        yield lost

    def _of_process(self) -> Iterator[Metric]:
        kept = {**self._live_games.finished.kept, **self._door.kept, "moves": values.kept()}
        what = "Items kept in memory for quick access, each kind up to a bound."
        yield _gauge("referee_kept", what, "kind", kept)
        yield GaugeMetricFamily("referee_tasks", "Tasks of the event loop.", value=len(asyncio.all_tasks()))
        threads = sum(1 for _ in _THREADS.iterdir()) if _THREADS.is_dir() else None
        yield GaugeMetricFamily(
            "referee_threads", "Threads of the process, those of gRPC among them; known on Linux only.", value=threads
        )

    def _of_machine(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "referee_clock_ahead_seconds",
            "How far the referee's time is ahead of the machine's clock; below 0: behind it.",
            value=self._machine.ahead_ms / 1000,
        )
        free = {disk: space.free_bytes for disk, space in self._machine.disks.items()}
        what = "Space on the disk of the data directory, and on that of the marks if it is another."
        yield GaugeMetricFamily(
            "referee_backup_made_seconds",
            "When the newest copy of referee backup was made, in seconds since 1970; 0: none was. Not there with games "
            "in PostgreSQL.",
            value=None if (made_ms := self._machine.backup_ms) is None else made_ms / 1000,
        )
        yield _gauge("referee_disk_free_bytes", what, "disk", free)
        uses = {disk: int(space.is_short) for disk, space in self._machine.disks.items()}
        yield _gauge(
            "referee_reserve_in_use", "1: the disk has no room left, and acts take what was set aside.", "disk", uses
        )


def _gauge(name: str, text: str, label: str, values: dict[str, int]) -> Metric:
    found = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        found.add_metric([key], value)
    return found


class Exposition:
    """``GET /metrics``, ``/livez`` and ``/readyz`` over HTTP, one request a connection."""

    def __init__(self, collector: Collector, is_ready: Callable[[], bool]) -> None:
        self._is_ready = is_ready
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(collector)
        ProcessCollector(registry=self._registry)
        self._server: asyncio.Server | None = None
        self.address = ""

    async def start(self, host: str, port: int) -> None:
        """Start. Raise ``OSError`` if the address cannot be listened on."""
        bare = host.removeprefix("[").removesuffix("]")
        self._server = await asyncio.start_server(self._serve, bare, port, limit=_HEAD_BYTES)
        self.address = f"{host}:{self._server.sockets[0].getsockname()[1]}"

    def stop(self) -> None:
        """Stop answering."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head.split(b"\r\n", 1)[0]))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    def _answer(self, line: bytes) -> bytes:
        """Answer the first line of a request."""
        method, path, version = (*line.split(b" "), b"", b"")[:3]
        if not version.startswith(b"HTTP/1."):
            return _response("400 Bad Request", "expected HTTP/1.1\n")
        asked = path.partition(b"?")[0].decode("ascii", "replace")
        if asked not in (PATH, LIVE, READY):
            return _response("404 Not Found", f"there is only {PATH}, {LIVE} and {READY}\n")
        if method != b"GET":
            return _response("405 Method Not Allowed", "expected GET\n", "Allow: GET\r\n")
        if asked == LIVE:  # even if the database fails: a restart would not help it
            return _response("200 OK", "ok\n")
        if asked == READY:
            return _response("200 OK", "ok\n") if self._is_ready() else _response(*_NOT_READY)
        return _response("200 OK", generate_latest(self._registry).decode(), kind=CONTENT_TYPE_LATEST)


def _response(status: str, body: str, more: str = "", *, kind: str = "text/plain; charset=utf-8") -> bytes:
    data = body.encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{more}Connection: close\r\n\r\n"
    )
    return head.encode() + data
