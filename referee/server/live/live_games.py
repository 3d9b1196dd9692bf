"""All live games of a referee: opens games, finds them, lists them, lets go of those that are over."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager

import structlog

from referee.log.errors import LogError
from referee.log.replay import Record
from referee.server.live.acts import Answer
from referee.server.live.archive import Archive, Finished, check_endings
from referee.server.live.context import Context
from referee.server.live.game import LiveGame
from referee.server.live.game_list import GameList
from referee.server.live.history import History
from referee.server.live.node_games import NodeGames
from referee.server.live.opening import Prepared, bad_field, prepare, prepare_event
from referee.server.live.refusals import RETRY_S, Draining, Elsewhere, LimitReached, UnknownGame, Unsound
from referee.server.live.seats import Seats
from referee.server.live.turns import Payer, Work
from referee.server.live.view import snapshot_message
from referee.server.live.watch import Ending, Feeds, Watcher
from referee.server.store.marks import Mark
from referee.server.store.nodes import Node
from referee.server.store.store import Cause, NotReady, Player, StoredGame, StoreFailed
from referee.text.notation.outcomes import counted
from referee.text.notation.times import moment_utc
from referee.text.words.catalogue import phrase
from referee.v1.event_service_pb2 import CreateEventRequest
from referee.v1.game_service_pb2 import CreateGameRequest, Snapshot

MAX_OPEN_GAMES = 10_000
MEND_S, MAX_MEND_S = 0.1, 10.0
"""The first and the longest pause before a game is read back once more."""
_PAGE_GAMES = 100

_log = structlog.get_logger("referee.live_games")


class LiveGames:
    """The way to every game: games that are live here, and through its parts all others."""

    def __init__(self, context: Context, *, producer: str, max_open_games: int = MAX_OPEN_GAMES) -> None:
        """``producer``: name and version of the program, for the headers of files."""
        self.context = context
        self._draining = False
        self._producer = producer
        self._max_open_games = max_open_games
        self._open: dict[bytes, LiveGame] = {}
        self.finished = Finished(context, self.set_aside)
        self._aside: dict[bytes, Unsound] = {}
        """Games that cannot be read back, and why; until the next start."""
        self._loading: dict[bytes, asyncio.Task[LiveGame]] = {}
        self.seats = Seats(context.store, self._open)
        self.feeds = Feeds()
        self.listing = GameList(context, self)
        self.endings: Counter[str] = Counter()
        """The number of games closed since the start, by the name of their ``Ending``."""
        self._of_proofs: Watcher | None = None
        """Watches all games that are to have certificates."""
        self._mender = _Mender(self._open, self.seats)
        nodes = context.store.nodes
        self.node_games = NodeGames(self, nodes) if nodes.shares else None
        """The work that other nodes cause."""
        self._letting_go: dict[bytes, Node] = {}
        """Games that are handed over just now, and to whom."""
        self._is_serving = False

    async def start(self, alive_ms: int | None = None) -> list[Unsound]:
        """Read every open game back and continue it; return those with which that is impossible.

        ``alive_ms``: when the referee was last running, by its own clock, to enter that games in play were interrupted;
        None: that is not entered. Time's effects wait for ``serve``. For games that are over only the last checkpoint
        is compared with the mark. Where other nodes can be, this one's games are read back later, beside the calls.
        """
        marks = self.context.store.marks.all()
        writing = list[asyncio.Future[Answer]]()
        async for stored in self._stored_open():
            marks.pop(stored.game_id, None)
            if self.node_games is None:
                await self._resume(stored.game_id, alive_ms, writing)
        await asyncio.gather(*writing)  # together, as they share what a commit costs
        async for error in check_endings(self.context, marks):
            self.set_aside(error)
        for game_id, mark in marks.items():
            self.set_aside(_missing(game_id, mark))
        if self.node_games is None:
            self.seats.take([p for p in await self.context.store.players() if p.game_id in self._open])
            for game_id, copied_ms in self.context.store.marks.doubts.items():
                _log.warning("game in doubt", game=game_id.hex(), copied=moment_utc(copied_ms))
        return list(self._aside.values())

    async def _resume(self, game_id: bytes, alive_ms: int | None, writing: list[asyncio.Future[Answer]]) -> None:
        """Read one open game back at the start; ``writing`` gets what waits for the entries that were due."""
        try:
            game, written = await LiveGame.take_up(self.context, game_id, self, alive_ms=alive_ms)
        except Unsound as error:
            self.set_aside(error)
            return
        game.rest()
        if not game.is_closed:
            self._open[game_id] = game
            self._watch_for_proofs(game)
        if written is not None:
            writing.append(written)

    def serve(self) -> None:
        """Let players act from now on."""
        self._is_serving = True
        for game in self._open.values():
            game.serve()
        if self.node_games is not None:
            self.node_games.start()

    async def _stored_open(self) -> AsyncIterator[StoredGame]:
        before: int | None = None
        while page := await self.context.store.games(before, _PAGE_GAMES, closed=False):
            for stored in page:
                yield stored
            before = page[-1].number

    @property
    def open_games(self) -> Iterator[LiveGame]:
        """Every game that is not over."""
        return iter(self._open.values())

    @property
    def known_cause(self) -> Cause:
        """Return why nothing could be written, when that was so last."""
        return self.context.store.known_cause

    @property
    def aside(self) -> Mapping[bytes, Unsound]:
        """The games that cannot be continued, and why."""
        return self._aside

    def watch_for_proofs(self, watcher: Watcher) -> None:
        """Let the watcher watch every game that is to have certificates, later ones included."""
        self._of_proofs = watcher
        for game in self._open.values():
            self._watch_for_proofs(game)

    def _watch_for_proofs(self, game: LiveGame) -> None:
        if self._of_proofs is not None and game.wants_proofs:
            game.watch(self._of_proofs)

    def is_draining(self) -> bool:
        """Return whether the referee is stopping."""
        return self._draining

    def check_streams(self) -> None:
        """Raise ``Draining`` or ``StoreFailed`` if no stream can begin now."""
        if self._draining:
            raise Draining("the referee is stopping")
        self._check_connected()

    def _check_connected(self) -> None:
        """Raise ``StoreFailed`` if this node is cut off from the database: others may have taken over its games."""
        health = self.context.store.nodes.health
        if health is not None and health.is_cut_off:
            if self.context.store.known_cause is Cause.STANDBY:
                raise NotReady(Cause.STANDBY, 1 + len(self.context.store.nodes.others))
            raise StoreFailed(f"cut off from the database for {health.silent_s:.0f} s")

    async def create(self, request: CreateGameRequest) -> tuple[LiveGame, Prepared]:
        """Open a game. Raise ``LiveGameError``, ``LogError``, ``StoreFailed``.

        The caller may leave before it is durable: the game is there all the same, and can be found and aborted.
        """
        self._check_room()
        own_keys = self.context.own_keys | {self.context.signer.verifier.key}
        prepared = prepare(request, self.context.engines, self._producer, own_keys)
        return await self._begin(prepared), prepared

    async def create_event(self, request: CreateEventRequest) -> tuple[LiveGame, Prepared]:
        """Begin an event. Raise as ``create`` does."""
        self._check_room()
        prepared = prepare_event(request, self._producer)
        return await self._begin(prepared), prepared

    def _check_room(self) -> None:
        if self._draining:
            raise Draining("the referee is stopping: no new games")
        if len(self._open) >= self._max_open_games:
            raise LimitReached(phrase("open games"), retry_s=RETRY_S)

    async def _begin(self, prepared: Prepared) -> LiveGame:
        try:
            game, opened = LiveGame.begin(self.context, prepared.open_data, prepared.opening, self)
        except LogError as error:
            raise bad_field(error) from None
        # Now, not when it is durable: else a caller could find it in the store and make a second live game of it.
        self._open[game.game_id] = game
        players = [Player(game.game_id, i, who) for i, who in enumerate(prepared.opening.principals) if who]
        self.seats.take(players)
        # If it fails the live game stays until it is known whether the game is durable all the same: some may be at it.
        await opened
        return game

    async def elsewhere(self, game_id: bytes) -> Node | None:
        """Return the other node that has this game; None: it is this one's, over, or unknown. Raise ``StoreFailed``."""
        if game_id in self._open or game_id in self.finished or self.node_games is None:
            return None
        return self._letting_go.get(game_id) or await self.context.store.nodes.elsewhere(game_id)

    def is_known(self, game_id: bytes) -> bool:
        """Return whether the game is live here, or cannot be."""
        return game_id in self._open or game_id in self._aside

    @contextmanager
    def letting_go(self, game_id: bytes, to: Node) -> Iterator[None]:
        """Hand the game over meanwhile: callers do not get it here."""
        self._letting_go[game_id] = to
        try:
            yield
        finally:
            del self._letting_go[game_id]
            self.context.store.nodes.forget(game_id)

    async def let_go(self, game_id: bytes, to: Node) -> None:
        """End what is under way in the game, for the other node to continue it.

        Raise ``LiveGameError`` if it is over or set aside, ``StoreFailed``.
        """
        if (loading := self._loading.get(game_id)) is not None:
            await asyncio.wait([loading])
        if game_id in self._aside:
            raise self._aside[game_id]
        if (game := self._open.get(game_id)) is not None:
            await game.leave(to)
            self._open.pop(game_id, None)
            self.seats.clear(game_id)

    async def check_here(self, game_id: bytes) -> None:
        """Raise ``Elsewhere`` if another node has this game; ``StoreFailed``."""
        if (node := await self.elsewhere(game_id)) is not None:
            raise Elsewhere(game_id, node)

    def running(self, game_id: bytes) -> LiveGame | None:
        """Return the live game of this id, if it is not over."""
        return self._open.get(game_id)

    async def game(self, game_id: bytes, payer: Payer | None = None) -> LiveGame:
        """Return the live game. Raise ``UnknownGame``, ``Elsewhere``, ``Unsound``, ``StoreFailed``.

        A game that is over may have to be replayed: that is charged to ``payer``, and ``LimitReached`` is raised if too
        many wait for it already. None waits for as long as it takes.
        """
        if (to := self._letting_go.get(game_id)) is not None:
            raise Elsewhere(game_id, to)
        if (game := self._open.get(game_id)) is not None:
            self._check_connected()
            return game
        if (game := self.finished.game(game_id)) is not None:
            return game
        if (unsound := self._aside.get(game_id)) is not None:
            raise Unsound(game_id, unsound.what)
        # Read back once, however many ask for it at the same time, and whether or not they wait for it.
        loading = self._loading.get(game_id)
        if loading is None:
            loading = self._loading[game_id] = asyncio.create_task(self._load(game_id, payer))
        try:
            return await asyncio.shield(loading)
        finally:
            del loading  # the traceback of its error has this frame

    async def record(self, game_id: bytes, payer: Payer) -> Record:
        """Return the game's record to be looked at: of another node's game what is in the store, and not taken up.

        Raise as ``game``, but never ``Elsewhere``.
        """
        try:
            return await (await self.game(game_id, payer)).record()
        except Elsewhere:
            async with self.finished.replays.turn(payer):
                record, _ = await History(self.context, game_id).replay(gently=True)
            payer.charge(Work.REPLAY, record.size)
            return record

    async def _load(self, game_id: bytes, payer: Payer | None) -> LiveGame:
        try:
            if (stored := await self.context.store.game(game_id)) is None:
                if (mark := self.context.store.marks.of(game_id)) is not None:
                    raise _missing(game_id, mark)
                raise UnknownGame(f"no game {game_id.hex()}")
            if stored.closed is None:
                game = await self._take_up(game_id)
            else:
                async with self.finished.replays.turn(payer):
                    game = await LiveGame.load(self.context, game_id, self, gently=True)
                if payer is not None:
                    payer.charge(Work.REPLAY, game.size)
            if game.is_closed:
                self.finished.keep(game)
            else:
                players = await self.context.store.players(game_id)
                # At once: who finds the game open here finds out as well whose its seats are.
                self._open[game_id] = game
                self.seats.take(players)
                self.opened(game)
            return game
        except Unsound as error:
            self.set_aside(error)
            raise
        finally:
            self._loading.pop(game_id, None)

    async def _take_up(self, game_id: bytes) -> LiveGame:
        """Read back a game that is not over. Raise ``Elsewhere``, ``Unsound``, ``StoreFailed``."""
        nodes = self.context.store.nodes
        nodes.forget(game_id)  # facts from before it became this node's would have it live nowhere
        if (node := await nodes.elsewhere(game_id)) is not None:
            raise Elsewhere(game_id, node)
        alive_ms = await nodes.alive_ms(game_id)
        game, written = await LiveGame.take_up(self.context, game_id, self, alive_ms=alive_ms)
        if self.node_games is not None:
            self.node_games.grown(game)
            game.rest()
        if written is not None:
            await written
        if self.node_games is not None and self._is_serving and not self._draining:
            game.serve()
        return game

    async def archive(self, game_id: bytes, payer: Payer) -> Archive | None:
        """Return the game, readable without a replay; None if it is not over, or live. Raises as ``game``."""
        if game_id in self._open or game_id in self.finished or game_id in self._aside:
            return None
        return await self.finished.archive(game_id, payer)

    async def snapshot(self, game_id: bytes, payer: Payer) -> Snapshot:
        """Return the game and its position; of a game that is over they are kept. Raises as ``game``."""
        if (snapshot := self.finished.snapshot(game_id)) is not None:
            return snapshot
        game = await self.game(game_id, payer)
        snapshot = snapshot_message(await game.record())
        if game.is_closed and game_id not in self._aside:
            self.finished.keep_snapshot(game_id, snapshot)
        return snapshot

    def refuse(self) -> None:
        """Refuse new games and acts from now on; acts under way become durable."""
        self._draining = True
        for game in self._open.values():
            game.rest()

    def drain(self) -> None:
        """Refuse as ``refuse`` does, and end all streams."""
        self.refuse()
        self.end_streams()

    def end_streams(self) -> None:
        """Send all players and watchers the request to come back later, or elsewhere."""
        for game in [*self._open.values(), *self.finished]:
            game.audience.end(Ending.DRAINING)
        self.feeds.end(Ending.DRAINING)

    async def close(self) -> None:
        """Stop all unasked work. Call before the store is closed."""
        if self.node_games is not None:
            await self.node_games.close()
        tasks = [*self._mender.close(), *self._loading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def opened(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        self._watch_for_proofs(game)
        self.feeds.opened(game.game_id, self.seats.principals(game.game_id))

    def grown(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        if self.node_games is not None:
            self.node_games.grown(game)

    def stale(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        self._mender.mend(game)

    def closed(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        if self._open.get(game.game_id) is game:
            del self._open[game.game_id]
            self.finished.keep(game)
            self.seats.clear(game.game_id)
            if game.result is not None:
                self.endings[game.result.ending.name] += 1
            _log.info("game over", game=game.game_id.hex(), entries=game.size)

    def unsound(self, game: LiveGame, error: Unsound) -> None:
        """Do as an ``Owner`` does."""
        if self._open.get(error.game_id) is game or self.finished.has(game):
            self.set_aside(error)

    def set_aside(self, error: Unsound) -> None:
        """Serve this game no more, and name it."""
        self._open.pop(error.game_id, None)
        self.finished.forget(error.game_id)
        self.seats.clear(error.game_id)
        if error.game_id not in self._aside:
            self._aside[error.game_id] = error
            _log.error("game set aside", game=error.game_id.hex(), error=error.what)


def _missing(game_id: bytes, mark: Mark) -> Unsound:
    signed = counted(mark.size, "entry", "entries")
    return Unsound(game_id, f"not in the database, although {signed} of it had been signed")


class _Mender:
    """Reads games back whose memory and store may differ: one at a time, for as long as it takes.

    Games in which an author acts are read back at once in any case.
    """

    def __init__(self, open_games: dict[bytes, LiveGame], seats: Seats) -> None:
        self._open = open_games
        self._seats = seats
        self._tasks: dict[LiveGame, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()
        self._is_closed = False

    def mend(self, game: LiveGame) -> None:
        """Read the game back though no caller asks: watchers may wait for what is durable, or for a turn."""
        if game not in self._tasks and not self._is_closed:
            self._tasks[game] = asyncio.create_task(self._mend(game))

    def close(self) -> list[asyncio.Task[None]]:
        """Begin no more; return what is under way."""
        self._is_closed = True
        return list(self._tasks.values())

    async def _mend(self, game: LiveGame) -> None:
        pause_s = MEND_S
        try:
            while self._open.get(game.game_id) is game and game.ledger.is_stale:
                try:
                    async with self._turn:
                        await game.record()
                except UnknownGame:
                    self._open.pop(game.game_id)
                    self._seats.clear(game.game_id)
                except Unsound:
                    pass  # it has been set aside for that
                except Exception as error:  # noqa: BLE001 - whatever it is, it has to be tried again
                    _log.warning("game not read back", game=game.game_id.hex(), error=str(error), again_s=pause_s)
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, MAX_MEND_S)
        finally:
            del self._tasks[game]
