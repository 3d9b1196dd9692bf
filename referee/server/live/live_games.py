"""All live games of a referee: opens games, finds them, lists them, lets go of those that are over."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog
from google.protobuf.message import DecodeError

from referee.log.errors import LogError
from referee.log.note import Checkpoint, Note
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.server.live.acts import Answer
from referee.server.live.archive import HASHED_AT_ONCE, Archive, Replays
from referee.server.live.context import Context
from referee.server.live.game import LiveGame
from referee.server.live.history import History
from referee.server.live.listing import Wanted
from referee.server.live.opening import Prepared, bad_field, prepare, prepare_event
from referee.server.live.refusals import RETRY_S, Draining, Elsewhere, LimitReached, UnknownGame, Unsound
from referee.server.live.sharing import Sharing
from referee.server.live.turns import Payer, Work
from referee.server.live.view import game_message, game_state, snapshot_message
from referee.server.live.watch import Ending, SeatWatcher, Watcher
from referee.server.store.marks import Mark
from referee.server.store.nodes import Node
from referee.server.store.store import Cause, NotReady, Player, Row, StoreDamaged, StoredGame, StoreFailed
from referee.text.notation.times import moment_utc
from referee.text.words.catalogue import phrase
from referee.v1 import game_pb2 as pb
from referee.v1.event_service_pb2 import CreateEventRequest
from referee.v1.game_service_pb2 import CreateGameRequest, Snapshot

MAX_OPEN_GAMES = 10_000
MEND_S, MAX_MEND_S = 0.1, 10.0
"""The first and the longest pause before a game is read back once more."""
KEPT_CLOSED = 64
"""Games that are over and may be looked at again soon."""
KEPT_ARCHIVES = 1024
"""Most archives that are kept, without their positions: these are small."""
KEPT_SNAPSHOTS = 512
"""Most games that are over of which game and position are kept, ready to be shown."""
_PAGE_GAMES = 100
_LISTED_AT_ONCE = 8
MOST_LOOKED_AT = 1000
"""Games that one list looks at, so that its cost has a bound whatever is asked for."""

_log = structlog.get_logger("referee.live_games")


class LiveGames:
    """Where every game is found."""

    def __init__(self, context: Context, *, producer: str, max_open_games: int = MAX_OPEN_GAMES) -> None:
        """``producer``: name and version of the program, for the headers of files."""
        self.context = context
        self._draining = False
        self._is_closed = False
        self._producer = producer
        self._max_open_games = max_open_games
        self._open: dict[bytes, LiveGame] = {}
        self._closed: OrderedDict[bytes, LiveGame] = OrderedDict()
        """The one that was asked for last is last."""
        self._archives: OrderedDict[bytes, Archive] = OrderedDict()
        """The archives, the most recently used last."""
        self._archiving = asyncio.Lock()
        self._snapshots: OrderedDict[bytes, Snapshot] = OrderedDict()
        """Of games that are over, the most recently used last."""
        self._replays = Replays()
        self._aside: dict[bytes, Unsound] = {}
        """Games that cannot be read back, and why; until the next start."""
        self._loading: dict[bytes, asyncio.Task[LiveGame]] = {}
        self._seats: dict[str, dict[bytes, int]] = {}
        """By principal: its seats in games that are not over."""
        self._principals: dict[bytes, dict[int, str]] = {}
        """By game: its seats and their principals."""
        self.endings: Counter[str] = Counter()
        """How the games ended that were closed since the start: how many by the name of their ``Ending``."""
        self._of_proofs: Watcher | None = None
        """Watches all games that are to have certificates."""
        self._feeds: dict[str | bytes, set[SeatWatcher]] = {}
        self._mending: dict[LiveGame, asyncio.Task[None]] = {}
        """Tables that are read back after a failure."""
        self._mender = asyncio.Lock()
        """One at a time: those at which somebody acts are read back at once in any case."""
        nodes = context.store.nodes
        self.sharing = Sharing(self, nodes) if nodes.shares else None
        """What there is to do because of other nodes."""
        self._letting_go: dict[bytes, Node] = {}
        """Games that are handed over just now, and to whom."""
        self._is_serving = False

    async def start(self, alive_ms: int | None = None) -> list[Unsound]:
        """Read every open game back and goes on with it; returns those with which that is impossible.

        ``alive_ms``: when the referee was last running, by its own clock: games in play were interrupted; None: that is
        not entered. What time brings about waits for ``serve``. Of the games that are over only the last checkpoint is
        held against the mark. Where other nodes can be, this one's games are read back later, beside what is served.
        """
        marks = self.context.store.marks.all()
        if self.sharing is not None:
            return await self._start_sharing(marks)
        writing = list[asyncio.Future[Answer]]()
        async for stored in self._stored_open():
            marks.pop(stored.game_id, None)
            try:
                game, written = await LiveGame.take_up(self.context, stored.game_id, self, alive_ms=alive_ms)
            except Unsound as error:
                self.set_aside(error)
            else:
                game.rest()
                if not game.is_closed:
                    self._open[stored.game_id] = game
                    self._watch_for_proofs(game)
                if written is not None:
                    writing.append(written)
        await asyncio.gather(*writing)  # together, as they share what a commit costs
        await self._check_closed(marks)
        for game_id, mark in marks.items():
            self.set_aside(_missing(game_id, mark))
        self._seat([p for p in await self.context.store.players() if p.game_id in self._open])
        for game_id, copied_ms in self.context.store.marks.doubts.items():
            _log.warning("game in doubt", game=game_id.hex(), copied=moment_utc(copied_ms))
        return list(self._aside.values())

    async def _start_sharing(self, marks: dict[bytes, Mark]) -> list[Unsound]:
        async for stored in self._stored_open():
            marks.pop(stored.game_id, None)
        await self._check_closed(marks)
        for game_id, mark in marks.items():
            self.set_aside(_missing(game_id, mark))
        return list(self._aside.values())

    def serve(self) -> None:
        """Let players act from now on."""
        self._is_serving = True
        for game in self._open.values():
            game.serve()
        if self.sharing is not None:
            self.sharing.start()

    async def _check_closed(self, marks: dict[bytes, Mark]) -> None:
        """Take out of ``marks`` what it has checked."""
        origin = self.context.signer.verifier.name
        before: int | None = None
        while page := await self.context.store.games(before, _PAGE_GAMES, closed=True):
            before = page[-1].number
            try:
                notes = await self.context.store.last_notes(page)
            except StoreDamaged:
                notes = {}
            for stored in page:
                mark, note = marks.pop(stored.game_id, None), notes.get(stored.game_id, b"")
                if mark is not None:
                    # Whether it is signed, and the entries are those that it covers, is seen when they are read.
                    promised = Checkpoint(origin, stored.game_id, mark.size, mark.root).text()
                    if note.startswith(promised.encode()):
                        continue
                    if self.sharing is not None and mark.size < _size_in(note):
                        continue  # another node went on with it: it is compared when it is read
                try:
                    await LiveGame.load(self.context, stored.game_id)
                except Unsound as error:
                    self.set_aside(error)

    async def _stored_open(self) -> AsyncIterator[StoredGame]:
        before: int | None = None
        while page := await self.context.store.games(before, _PAGE_GAMES, closed=False):
            for stored in page:
                yield stored
            before = page[-1].number

    # --- principals -----------------------------------------------------------------------------------------

    async def seat_of(self, principal: str, game_id: bytes) -> int | None:
        """Return the principal's seat in the game."""
        seat = self._seats.get(principal, {}).get(game_id)
        if seat is None and game_id not in self._open:
            players = await self.context.store.players(game_id)
            seat = next((player.seat for player in players if player.principal == principal), None)
        return seat

    def games_of(self, principal: str) -> list[bytes]:
        """Return the games that are not over and have the principal at a seat."""
        return list(self._seats.get(principal, ()))

    @contextmanager
    def feeding(self, of: Collection[str | bytes], feed: SeatWatcher) -> Iterator[None]:
        """Report to the feed every game that is opened meanwhile, or that becomes this node's.

        ``of``: whose games, by principal, and which, by id.
        """
        for each in of:
            self._feeds.setdefault(each, set()).add(feed)
        try:
            yield
        finally:
            for each in of:
                feeds = self._feeds[each]
                feeds.discard(feed)
                if not feeds:
                    del self._feeds[each]

    def _seat(self, players: Sequence[Player]) -> None:
        for player in players:
            self._seats.setdefault(player.principal, {})[player.game_id] = player.seat
            self._principals.setdefault(player.game_id, {})[player.seat] = player.principal

    def _unseat(self, game_id: bytes) -> None:
        for principal in set(self._principals.pop(game_id, {}).values()):
            self._seats[principal].pop(game_id)
            if not self._seats[principal]:
                del self._seats[principal]

    def principals(self, game_id: bytes) -> dict[int, str]:
        """Return the principals of a game that is not over, by seat."""
        return self._principals.get(game_id, {})

    @property
    def kept(self) -> dict[str, int]:
        """How many games that are over are kept, by how they are."""
        return {"games_over": len(self._closed), "archives": len(self._archives)}

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
        """Games that cannot be gone on with, and why."""
        return self._aside

    def watch_for_proofs(self, watcher: Watcher) -> None:
        """Have the watcher watch every game that is to have certificates, games that are opened later included."""
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
        """Raise ``StoreFailed`` if this node is cut off from the database: others may have gone on with its games."""
        health = self.context.store.nodes.health
        if health is not None and health.is_cut_off:
            if self.context.store.known_cause is Cause.STANDBY:
                raise NotReady(Cause.STANDBY, 1 + len(self.context.store.nodes.others))
            raise StoreFailed(f"cut off from the database for {health.silent_s:.0f} s")

    async def create(self, request: CreateGameRequest) -> tuple[LiveGame, Prepared]:
        """Open a game. Raise ``LiveGameError``, ``LogError``, ``StoreFailed``.

        Whoever asks may leave before it is durable: the game is there all the same, and can be found and aborted.
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
        # Now, not when it is durable: else somebody could find it in the store and make a second live game of it.
        self._open[game.game_id] = game
        players = [Player(game.game_id, i, who) for i, who in enumerate(prepared.opening.principals) if who]
        self._seat(players)
        # If it fails the live game stays until it is known whether the game is durable all the same: some may be at it.
        await opened
        return game

    async def elsewhere(self, game_id: bytes) -> Node | None:
        """Return the other node that goes on with this game; None: it is this one's, over, or unknown. Raise
        ``StoreFailed``.
        """
        if game_id in self._open or game_id in self._closed or self.sharing is None:
            return None
        return self._letting_go.get(game_id) or await self.context.store.nodes.elsewhere(game_id)

    async def owners(self, games: Sequence[pb.Game]) -> dict[str, str]:
        """Return by id, of those that are not over, which of several nodes goes on with it, for people."""
        if self.sharing is None:
            return {}
        ids = [bytes.fromhex(game.id) for game in games if game.state != pb.GAME_STATE_OVER]
        found = await self.context.store.nodes.owners(ids)
        return {game_id.hex(): node.words for game_id, node in found.items()}

    def is_known(self, game_id: bytes) -> bool:
        """Return whether the game is live here, or cannot be."""
        return game_id in self._open or game_id in self._aside

    @contextmanager
    def letting_go(self, game_id: bytes, to: Node) -> Iterator[None]:
        """Meanwhile the game is handed over: nobody gets it here."""
        self._letting_go[game_id] = to
        try:
            yield
        finally:
            del self._letting_go[game_id]
            self.context.store.nodes.forget(game_id)

    async def let_go(self, game_id: bytes, to: Node) -> None:
        """Have nothing under way in the game, for the other node to go on with it.

        Raise ``LiveGameError`` if it is over or set aside, ``StoreFailed``.
        """
        if (loading := self._loading.get(game_id)) is not None:
            await asyncio.wait([loading])
        if game_id in self._aside:
            raise self._aside[game_id]
        if (game := self._open.get(game_id)) is not None:
            await game.leave(to)
            self._open.pop(game_id, None)
            self._unseat(game_id)

    async def check_here(self, game_id: bytes) -> None:
        """Raise ``Elsewhere`` if another node goes on with this game; ``StoreFailed``."""
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
        if (game := self._closed.get(game_id)) is not None:
            self._closed.move_to_end(game_id)
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
            del loading  # the traceback of what it raised has this frame

    async def record(self, game_id: bytes, payer: Payer) -> Record:
        """Return the game's record to be looked at: of another node's game what is in the store, and not taken up.

        Raise as ``game``, but never ``Elsewhere``.
        """
        try:
            return await (await self.game(game_id, payer)).record()
        except Elsewhere:
            async with self._replays.turn(payer):
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
                async with self._replays.turn(payer):
                    game = await LiveGame.load(self.context, game_id, self, gently=True)
                if payer is not None:
                    payer.charge(Work.REPLAY, game.size)
            if game.is_closed:
                self._keep(game)
            else:
                players = await self.context.store.players(game_id)
                # At once: who finds the game open here finds out as well whose its seats are.
                self._open[game_id] = game
                self._seat(players)
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
        nodes.forget(game_id)  # what is known from before it became this node's would have it live nowhere
        if (node := await nodes.elsewhere(game_id)) is not None:
            raise Elsewhere(game_id, node)
        alive_ms = await nodes.alive_ms(game_id)
        game, written = await LiveGame.take_up(self.context, game_id, self, alive_ms=alive_ms)
        if self.sharing is not None:
            self.sharing.grown(game)
            game.rest()
        if written is not None:
            await written
        if self.sharing is not None and self._is_serving and not self._draining:
            game.serve()
        return game

    async def archive(self, game_id: bytes, payer: Payer) -> Archive | None:
        """Return the game, readable without a replay; None if it is not over, or live. Raises as ``game``."""
        if game_id in self._open or game_id in self._closed or game_id in self._aside:
            return None
        if (archive := self._archives.get(game_id)) is not None:
            self._archives.move_to_end(game_id)
            return archive
        stored = await self.context.store.game(game_id)
        if stored is None or stored.closed is None:
            return None

        async def checked(_: History, row: Row) -> None:
            if row.seq % HASHED_AT_ONCE == 0:
                await self.context.turns.next(payer)
                payer.charge(Work.READ, HASHED_AT_ONCE)

        async with self._archiving:
            if (archive := self._archives.get(game_id)) is None:
                archive = await Archive.open(self.context, stored, self.set_aside, checked=checked)
                self._archives[game_id] = archive
        if len(self._archives) > KEPT_ARCHIVES:
            self._archives.popitem(last=False)
        return archive

    async def snapshot(self, game_id: bytes, payer: Payer) -> Snapshot:
        """Return the game and its position; of a game that is over they are kept. Raises as ``game``."""
        if (snapshot := self._snapshots.get(game_id)) is not None:
            self._snapshots.move_to_end(game_id)
            return snapshot
        game = await self.game(game_id, payer)
        snapshot = snapshot_message(await game.record())
        if game.is_closed and game_id not in self._aside:
            self._snapshots[game_id] = snapshot
            if len(self._snapshots) > KEPT_SNAPSHOTS:
                self._snapshots.popitem(last=False)
        return snapshot

    async def games(
        self, before: int | None, limit: int, wanted: Wanted, payer: Payer
    ) -> tuple[list[pb.Game], int | None]:
        """Return the games that are wanted, newest first, and where the next page begins.

        Looks at no more than ``MOST_LOOKED_AT`` games, whatever is wanted; what it has not come to is on later pages.
        """
        store = self.context.store
        if before is None and wanted.opened_until_ms:
            before = await store.first_since(wanted.opened_until_ms)
        found: list[pb.Game] = []
        looked_at = 0
        while True:
            page = await self._candidates(before, wanted)
            shown = await self._shown_elsewhere(page)
            for stored in page:
                if stored.listing.opened_ms < wanted.opened_from_ms:
                    return found, None  # and so are all that follow
                if len(found) == limit or looked_at == MOST_LOOKED_AT:
                    return found, before
                if looked_at % _LISTED_AT_ONCE == 0:
                    await self.context.turns.next(payer)
                before, looked_at = stored.number, looked_at + 1
                payer.charge(Work.LIST, 1)
                if not wanted.listing_fits(stored.game_id, stored.listing, closed=stored.closed is not None):
                    continue
                if stored.game_id in shown:
                    game = self._as_shown(stored, shown[stored.game_id], wanted)
                else:
                    game = await self._listed(stored, wanted)
                if game is not None:
                    found.append(game)
            if not page:
                return found, None

    async def _candidates(self, before: int | None, wanted: Wanted) -> list[StoredGame]:
        """Return the next games of what the store finds fastest of all that is wanted."""
        store = self.context.store
        if wanted.ids is not None:
            return await store.games_between(*wanted.ids, before, _PAGE_GAMES)
        if wanted.principal:
            return await store.games_of_player(wanted.principal, before, _PAGE_GAMES)
        if wanted.event_id is not None:
            return await store.games_of_event(wanted.event_id, before, _PAGE_GAMES)
        return await store.games(before, _PAGE_GAMES, closed=wanted.closed)

    async def _shown_elsewhere(self, page: Sequence[StoredGame]) -> dict[bytes, bytes | None]:
        """Return of which games other nodes show how they stand. None is taken up for a list."""
        ids = [stored.game_id for stored in page if stored.closed is None and stored.game_id not in self._open]
        return await self.context.store.nodes.shown(ids) if ids and self.sharing is not None else {}

    def _as_shown(self, stored: StoredGame, listed: bytes | None, wanted: Wanted) -> pb.Game | None:
        """Return the game as the node that has it showed it; None if it is not in the state that is wanted."""
        game = pb.Game.FromString(listed) if listed is not None else _unread(stored, pb.GAME_STATE_UNREADABLE)
        return game if wanted.state_fits(game.state) else None

    async def _listed(self, stored: StoredGame, wanted: Wanted) -> pb.Game | None:
        """Return the game as it is listed; None if it is not in the state that is wanted.

        A game that cannot be read is listed with what it was opened with, and says so: nobody may take it for missing.
        """
        try:
            if stored.game_id in self._aside:
                game = _unread(stored, pb.GAME_STATE_SET_ASIDE)
            elif stored.closed is not None:
                game = await self._as_it_ended(stored, pb.Game.FromString(stored.closed))
            else:
                record = await (await self.game(stored.game_id)).record()
                if not wanted.state_fits(game_state(record)):
                    return None
                game = game_message(record)
        except (Unsound, DecodeError) as error:
            self.set_aside(
                error if isinstance(error, Unsound) else Unsound(stored.game_id, "its ending cannot be read")
            )
            game = _unread(stored, pb.GAME_STATE_SET_ASIDE)
        except Elsewhere:  # since the page was read
            game = _unread(stored, pb.GAME_STATE_UNREADABLE)
        except StoreFailed as error:
            _log.error("game not read", game=stored.game_id.hex(), error=str(error))
            game = _unread(stored, pb.GAME_STATE_UNREADABLE)
        return game if wanted.state_fits(game.state) else None

    async def _as_it_ended(self, stored: StoredGame, game: pb.Game) -> pb.Game:
        """Return the game with what earlier versions did not keep of it. Raise ``DecodeError``, ``StoreFailed``."""
        if not game.opened_ms:
            game.MergeFrom(_as_opened(stored))
            for row in await self.context.store.entries(stored.game_id, game.size - 1, 1):
                game.ended_ms = log_pb2.Entry.FromString(row.data).referee_ms
        return game

    async def players(self, game_id: bytes) -> dict[int, str]:
        """Return the principals of a game by seat, over or not."""
        if game_id in self._open:
            return self.principals(game_id)
        return {player.seat: player.principal for player in await self.context.store.players(game_id)}

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
        """Tell everybody who plays or watches to come back later, or elsewhere."""
        for game in [*self._open.values(), *self._closed.values()]:
            game.end_watching(Ending.DRAINING)
        for feeds in self._feeds.values():
            for feed in feeds:
                feed.end(Ending.DRAINING)

    async def close(self) -> None:
        """Let go of what is done without being asked for. Before the store is closed."""
        self._is_closed = True
        if self.sharing is not None:
            await self.sharing.close()
        tasks = [*self._mending.values(), *self._loading.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def opened(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        self._watch_for_proofs(game)
        followed: set[str | bytes] = {game.game_id, *self.principals(game.game_id).values()}
        for feed in {feed for each in followed for feed in self._feeds.get(each, ())}:
            feed.opened(game.game_id)

    def grown(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        if self.sharing is not None:
            self.sharing.grown(game)

    def stale(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        if game not in self._mending and not self._is_closed:
            self._mending[game] = asyncio.create_task(self._mend(game))

    async def _mend(self, game: LiveGame) -> None:
        """Read the game back though no caller asks: watchers may wait for what is durable, or for a turn."""
        pause_s = MEND_S
        try:
            while self._open.get(game.game_id) is game and game.is_stale:
                try:
                    async with self._mender:
                        await game.record()
                except UnknownGame:
                    self._open.pop(game.game_id)
                    self._unseat(game.game_id)
                except Unsound:
                    pass  # it has been set aside for that
                except Exception as error:  # noqa: BLE001 - whatever it is, it has to be tried again
                    _log.warning("game not read back", game=game.game_id.hex(), error=str(error), again_s=pause_s)
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, MAX_MEND_S)
        finally:
            del self._mending[game]

    def closed(self, game: LiveGame) -> None:
        """Do as an ``Owner`` does."""
        if self._open.get(game.game_id) is game:
            del self._open[game.game_id]
            self._keep(game)
            self._unseat(game.game_id)
            if game.result is not None:
                self.endings[game.result.ending.name] += 1
            _log.info("game over", game=game.game_id.hex(), entries=game.size)

    def unsound(self, game: LiveGame, error: Unsound) -> None:
        """Do as an ``Owner`` does."""
        if self._open.get(error.game_id) is game or self._closed.get(error.game_id) is game:
            self.set_aside(error)

    def set_aside(self, error: Unsound) -> None:
        """Serve this game no more, and name it."""
        self._open.pop(error.game_id, None)
        self._closed.pop(error.game_id, None)
        self._archives.pop(error.game_id, None)
        self._snapshots.pop(error.game_id, None)
        self._unseat(error.game_id)
        if error.game_id not in self._aside:
            self._aside[error.game_id] = error
            _log.error("game set aside", game=error.game_id.hex(), error=error.what)

    def _keep(self, game: LiveGame) -> None:
        self._closed[game.game_id] = game
        if len(self._closed) > KEPT_CLOSED:
            self._closed.popitem(last=False)


def _missing(game_id: bytes, mark: Mark) -> Unsound:
    return Unsound(game_id, f"not in the database, although {mark.size} entries were signed")


def _size_in(note: bytes) -> int:
    """Return how many entries the checkpoint is for; 0 if it is none."""
    try:
        return Checkpoint.parse(Note.parse(note).text).size
    except LogError:
        return 0


def _unread(stored: StoredGame, state: pb.GameState.ValueType) -> pb.Game:
    game = _as_opened(stored)
    game.id, game.state = stored.game_id.hex(), state
    return game


def _as_opened(stored: StoredGame) -> pb.Game:
    """Return what lists find the game by."""
    event_id, round_, table, opened_ms = stored.listing
    return pb.Game(event_id=event_id, round=round_, table=table, opened_ms=opened_ms)
