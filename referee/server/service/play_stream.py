"""The streams of players: one game with acts going in, or all games of a principal, also those at other nodes."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import grpc
import structlog
from google.protobuf.message import Message

from referee.log.events import Author
from referee.server.live.game import LiveGame
from referee.server.live.live_games import LiveGames
from referee.server.live.refusals import BadField, BeyondHead, Draining, Elsewhere, LiveGameError, UnknownGame, Unsound
from referee.server.live.view import awaited
from referee.server.live.watch import Ending, Item, SeatWatcher, Watcher
from referee.server.service.auth import Metadata
from referee.server.service.calls import Gone, RequestStream, ResponseStream
from referee.server.service.forwarder import Forwarder
from referee.server.service.watch_stream import begin, closing, heartbeat
from referee.server.store.nodes import Node
from referee.server.store.store import StoreFailed
from referee.v1 import game_service_pb2 as pb

Take = Callable[[pb.SignedAct], Awaitable[None]]
"""Puts an act before the game; its answer comes through the watcher. Does not raise."""


@contextmanager
def present(game: LiveGame, author: Author) -> Iterator[None]:
    """Show the author as present in the game."""
    game.came(author)
    try:
        yield
    finally:
        game.left(author)


class PlayStream:
    """One author in one game."""

    def __init__(
        self, live_games: LiveGames, game: LiveGame, author: Author, enter: pb.Enter, watcher: Watcher
    ) -> None:
        self._live_games = live_games
        self._game = game
        self._watcher = watcher
        self._author = author
        self._turns = TurnMessages(game, author, moves=enter.legal_moves)
        self._seq = -1

    async def run(self, after_seq: int | None, requests: RequestStream, responses: ResponseStream, take: Take) -> None:
        """Return after Closing; raises ``LiveGameError`` before the first message, ``BadField`` for what is no act."""
        reader: asyncio.Task[None] | None = None
        try:
            with present(self._game, self._author):
                await self._game.back(self._author)
                self._seq = await begin(self._live_games, self._game, after_seq, self._watcher, responses.send)
                if self._watcher.is_empty:
                    # A heartbeat also shows that nothing is still to come: a returning player is up to date.
                    message = pb.PlayGameResponse(seq=self._seq)
                    if await self._turns.tell(message.turn):
                        data = message.SerializeToString()
                    else:
                        data = heartbeat(self._seq, self._live_games.context.time.now_ms(), self._game.stood_ms)
                    await responses.send(data)
                reader = asyncio.create_task(self._read(requests, take))
                ending = await self._write(responses)
                if ending is Ending.BROKEN:
                    await reader  # raises
                await responses.send(closing(self._seq, ending))
        finally:
            self._game.audience.remove(self._watcher)
            if reader is not None:
                reader.cancel()
                with suppress(asyncio.CancelledError, Gone, LiveGameError):
                    await reader

    async def _write(self, responses: ResponseStream) -> Ending:
        watcher = self._watcher
        while not isinstance(item := await watcher.next(), Ending):
            data = b""
            if item is None:
                now_ms = self._live_games.context.time.now_ms()
                await responses.send(heartbeat(self._seq, now_ms, self._game.stood_ms))
                item = Item()  # empty by itself, but the turn may still have to be sent
            if item.commit is not None:
                self._seq, data = item.commit.seq, item.commit.message
            message = item.answer or pb.PlayGameResponse()
            has_turn = watcher.is_empty and await self._turns.tell(message.turn)
            if item.answer is not None or has_turn:
                message.seq = self._seq
                # Parts of one message that stand one after the other are the message.
                data += message.SerializeToString()
            if data:
                await responses.send(data)
        return item

    async def _read(self, requests: RequestStream, take: Take) -> None:
        """Read until the client has said all that it wants to say; it is still sent what comes."""
        try:
            while (message := await requests.receive()) is not None:
                await take(_act(message))
        except BaseException:
            self._watcher.end(Ending.BROKEN)
            raise


def _act(message: Message) -> pb.SignedAct:
    if not isinstance(message, pb.PlayGameRequest) or not message.HasField("act"):
        raise BadField("item", "act, after the first message")
    return message.act


class SeatStreams:
    """All games of one bearer of tokens."""

    def __init__(
        self, live_games: LiveGames, feed: SeatWatcher, author_in: Callable[[bytes], Awaitable[Author | None]]
    ) -> None:
        """``author_in`` returns as whom the bearer acts in a game."""
        self._live_games = live_games
        self._seat_watcher = feed
        self._author_in = author_in
        self._games: dict[bytes, tuple[LiveGame, TurnMessages, ExitStack]] = {}
        self._entering: set[bytes] = set()
        """Games that are entered now, or are to be."""
        self._moved: OrderedDict[bytes, None] = OrderedDict()
        """Games in which something happened, and whose turn is still to be sent."""

    async def run(self, games: Mapping[bytes, int | None], responses: ResponseStream | Source) -> None:
        """Run from these games on, each after its seq, or from a snapshot on. Return after Closing."""

        async def send(game_id: bytes, update: bytes) -> None:
            await responses.send(_wrapped(game_id, update))

        self._live_games.check_streams()
        try:
            self._entering.update(games)
            for game_id, after_seq in games.items():
                await self._enter(game_id, after_seq, send)
            while True:
                await self._tell_turns(responses)
                item = await self._seat_watcher.next()
                if isinstance(item, Ending):
                    break
                if item is None:
                    await send(b"", heartbeat(0, self._live_games.context.time.now_ms()))
                elif item.commit is not None:
                    await send(item.commit.game_id, item.commit.message)
                    self._moved[item.commit.game_id] = None
                elif item.over in self._games:
                    await self._leave(item.over, item.ending, send)
                elif item.opened and item.opened not in self._games and not self._live_games.is_draining():
                    await self._enter(item.opened, None, send)
            await send(b"", closing(0, item))
        finally:
            for _, _, stack in self._games.values():
                stack.close()

    def tells(self, game_id: bytes) -> bool:
        """Return whether this node sends the game."""
        return game_id in self._games

    def enter(self, game_id: bytes) -> None:
        """Tell of one more game, be it only its end. Of one that is being entered nothing more has to be done."""
        if game_id not in self._entering:
            self._entering.add(game_id)
            self._seat_watcher.opened(game_id)

    async def _enter(self, game_id: bytes, after_seq: int | None, send: _Send) -> None:
        """Enter a game. Trouble with one game is reported for that game: the others continue."""
        self._entering.add(game_id)
        try:
            await self._begin(game_id, after_seq, send)
        except Unsound:
            await send(game_id, closing(-1 if after_seq is None else after_seq, Ending.SET_ASIDE))
        except BeyondHead as error:
            await send(game_id, closing(error.size - 1, Ending.NOT_THERE))
        except UnknownGame:
            # One that the client has not asked for was about to be opened, and that has failed.
            if after_seq is not None:
                await send(game_id, closing(-1, Ending.NOT_THERE))
        except Elsewhere:
            pass  # the node that has it sends it
        except Draining:
            pass  # the feed is ended soon, if it is not already
        finally:
            self._entering.discard(game_id)

    async def _begin(self, game_id: bytes, after_seq: int | None, send: _Send) -> None:
        author = await self._author_in(game_id)
        if author is None:
            raise UnknownGame(f"no game {game_id.hex()} of the token's bearer")
        with ExitStack() as stack:
            game = await self._live_games.game(game_id)
            stack.callback(game.audience.remove, self._seat_watcher)
            stack.enter_context(present(game, author))
            await begin(self._live_games, game, after_seq, self._seat_watcher, partial(send, game_id))
            self._games[game_id] = (game, TurnMessages(game, author, moves=False), stack.pop_all())
            self._moved[game_id] = None

    async def _leave(self, game_id: bytes, ending: Ending, send: _Send) -> None:
        game, _, stack = self._games.pop(game_id)
        self._moved.pop(game_id, None)
        stack.close()
        await send(game_id, closing(game.size - 1, ending))

    async def _tell_turns(self, responses: ResponseStream | Source) -> None:
        """Send the turns one after the other: something may have to be sent between them."""
        in_doubt: list[bytes] = []
        while self._moved and self._seat_watcher.is_empty:
            game_id, _ = self._moved.popitem(last=False)
            game, turns, _ = self._games[game_id]
            message = pb.WatchSeatResponse(game_id=game_id.hex())
            if game.peek() is None:
                in_doubt.append(game_id)
            elif await turns.tell(message.turn):
                await responses.send(message.SerializeToString())
        self._moved.update(dict.fromkeys(in_doubt))


_Send = Callable[[bytes, bytes], Awaitable[None]]
_UPDATE = pb.WatchSeatResponse.DESCRIPTOR.fields_by_name["update"].number << 3 | 2


def _wrapped(game_id: bytes, update: bytes) -> bytes:
    """Exact bytes of a ``WatchSeatResponse``, without taking the update apart."""
    head: Message = pb.WatchSeatResponse(game_id=game_id.hex())
    length, digits = len(update), bytearray([_UPDATE])
    while length > 0x7F:
        digits.append(length & 0x7F | 0x80)
        length >>= 7
    digits.append(length)
    return head.SerializeToString() + bytes(digits) + update


METHOD = "referee.v1.GameService/WatchSeat"
LOOK_S = 0.5
"""The interval of looks for nodes and for games that no node sends, and of retries at a node that does not answer."""

_log = structlog.get_logger("referee.seats_elsewhere")


_MOST_OVER = 4096
HERE = 0
"""This node among the sources of a stream; other nodes have the ids of the database, from 1 on."""


class Together:
    """The one stream of a bearer, with games from several nodes.

    Nodes may contradict each other: one that hung sends games that it has lost, and its messages may come late. But a
    log is one, so an entry that follows the last one sent is right, whichever node sends it, and earlier ones are not
    sent again. A snapshot starts the game anew, after an end with DRAINING. A game that leaves a node has not ended:
    the next node may continue without a snapshot, as a stream there that was begun before does.
    """

    def __init__(self, responses: ResponseStream, resume: Mapping[bytes, int | None]) -> None:
        """``resume``: games that were asked for, and after which seq; None: from a snapshot on."""
        self._responses = responses
        self._lock = asyncio.Lock()
        self._seqs = {game_id.hex(): seq for game_id, seq in resume.items() if seq is not None}
        """By game: the last entry that was sent, or is known from before."""
        self._told = {*self._seqs}
        """Games of which the listener has a picture."""
        self._tellers: dict[str, int] = {}
        """By game: the last node that sent it, as long as that node is heard."""
        self.has_moved = False
        """True once a game has left the node that sent it; the search for its new node sets this back."""
        self._over: dict[str, None] = {}
        """The games that ended last, of which late messages may come."""

    def source(self, node_id: int) -> Source:
        """Return the part of this node."""
        return Source(self, node_id)

    def left(self, node_id: int) -> None:
        """Note that nothing more is heard of this node: any other may continue."""
        for game_id in [game_id for game_id, teller in self._tellers.items() if teller == node_id]:
            del self._tellers[game_id]

    @property
    def told(self) -> dict[str, int]:
        """The games of which the listener has a picture, and the last entry of each."""
        return {each: self._seqs[each] for each in self._told}

    @property
    def untold(self) -> list[bytes]:
        """Those games of which no node that is heard has sent anything: perhaps none will."""
        return [bytes.fromhex(each) for each in self._told if each not in self._tellers]

    async def tell(self, node_id: int, data: bytes) -> None:
        """Send a message, unless it is out of date, or of the stream between two nodes. Raise ``Gone``."""
        message = pb.WatchSeatResponse.FromString(data)
        async with self._lock:
            if await self._is_new(node_id, message) if message.game_id else node_id == HERE:
                await self._responses.send(data)

    async def _is_new(self, node_id: int, message: pb.WatchSeatResponse) -> bool:
        game_id, update = message.game_id, message.update
        seq, is_told = self._seqs.get(game_id, -1), game_id in self._told
        if game_id in self._over:
            return False
        if update.HasField("closing"):
            return self._ends(node_id, game_id, update.closing.reason)
        if update.HasField("snapshot"):
            if update.seq < seq:
                return False
            if is_told:
                await self._responses.send(_left(game_id, seq))
            self._told.add(game_id)
        elif update.HasField("commit"):
            if not is_told or update.seq - len(update.commit.entries) != seq:
                return False
        elif message.turn.size != seq + 1:
            return False
        if message.HasField("update"):
            self._seqs[game_id] = update.seq
        self._tellers[game_id] = node_id
        return True

    def _ends(self, node_id: int, game_id: str, reason: int) -> bool:
        if self._tellers.get(game_id, node_id) != node_id:
            return False
        self._tellers.pop(game_id, None)
        if reason == pb.CLOSING_REASON_DRAINING:
            self.has_moved = True
            return False
        self._told.discard(game_id)
        if reason == pb.CLOSING_REASON_GAME_OVER:
            self._seqs.pop(game_id, None)
            self._over[game_id] = None
            if len(self._over) > _MOST_OVER:
                del self._over[next(iter(self._over))]
        return True


def _left(game_id: str, seq: int) -> bytes:
    """Return what is said of a game before another node begins it anew."""
    closing = pb.Closing(reason=pb.CLOSING_REASON_DRAINING)
    update = pb.WatchGameResponse(seq=seq, closing=closing)
    return pb.WatchSeatResponse(game_id=game_id, update=update).SerializeToString()


@dataclass(frozen=True, slots=True)
class Source:
    """The part of a stream that one node sends."""

    together: Together
    node_id: int

    async def send(self, data: bytes) -> None:
        """Send a message. Raise ``Gone``."""
        await self.together.tell(self.node_id, data)


class Here(Protocol):
    """This node's part of a stream; ``SeatStreams`` explains its methods."""

    def tells(self, game_id: bytes) -> bool: ...

    def enter(self, game_id: bytes) -> None: ...


class SeatsElsewhere:
    """The other nodes' part of one stream."""

    def __init__(self, forward: Forwarder, told: Metadata, together: Together, here: Here) -> None:
        """``told``: the metadata about the caller for other nodes."""
        self._forward = forward
        self._told = told
        self._together = together
        self._here = here
        self._heard: set[int] = set()
        """Nodes that have sent something in their present stream: they know which games to send."""
        self._is_in_doubt = True
        """True if perhaps no node sends some game."""

    async def run(self) -> None:
        """Send until cancelled. Raise ``Gone`` when the listener has left."""
        following: dict[int, asyncio.Task[None]] = {}
        try:
            while True:
                for node in self._forward.nodes.others:
                    if node.address and node.id not in following:
                        following[node.id] = asyncio.create_task(self._follow(node))
                await asyncio.sleep(LOOK_S)
                for node_id in [node_id for node_id, task in following.items() if task.done()]:
                    following.pop(node_id).result()
                if self._is_in_doubt or self._together.has_moved:
                    await self._tell_of_the_rest()
        finally:
            for task in following.values():
                task.cancel()
            await asyncio.gather(*following.values(), return_exceptions=True)

    async def _follow(self, node: Node) -> None:
        """Tell of the games of this node as long as it lives."""
        source = self._together.source(node.id)
        while self._is_there(node):
            try:
                points = [pb.ResumePoint(game_id=each, after_seq=seq) for each, seq in self._together.told.items()]
                request = pb.WatchSeatRequest(resume=points).SerializeToString()
                async for data in self._forward.messages(node, METHOD, request, self._told):
                    self._heard.add(node.id)
                    await source.send(data)
            except grpc.aio.AioRpcError as error:
                _log.debug("no word from a node", node=node.name, error=error.details())
            finally:
                self._heard.discard(node.id)
                self._together.left(node.id)
                self._is_in_doubt = True
            await asyncio.sleep(LOOK_S)

    def _is_there(self, node: Node) -> bool:
        return any(other.id == node.id for other in self._forward.nodes.others)

    async def _tell_of_the_rest(self) -> None:
        """Have this node send the games that are its own by now, or over: no other node sends their end.

        A game's owner may not have been asked for it in time. So owners are looked up again until every other node has
        been heard: by then each node sends its own games.
        """
        nodes = self._forward.nodes
        self._together.has_moved = False
        # Before the question: games of a node that was not heard by then are still in doubt.
        self._is_in_doubt = not all(node.id in self._heard for node in nodes.others)
        untold = [game_id for game_id in self._together.untold if not self._here.tells(game_id)]
        try:
            elsewhere = await nodes.shown(untold) if untold else {}
        except StoreFailed as error:
            self._is_in_doubt = True
            _log.debug("not known whose games are", error=str(error))
            return
        for game_id in untold:
            if game_id not in elsewhere:
                self._is_in_doubt = True  # until it is sent, or has become another's once more
                self._here.enter(game_id)


MAX_MOVES = 5000


class TurnMessages:
    """The turns of one game that one author has been sent."""

    def __init__(self, game: LiveGame, author: Author, *, moves: bool) -> None:
        """``moves``: legal moves are wanted with every turn."""
        self._game = game
        self._author = author
        self._moves = moves
        self._told = 0

    async def tell(self, turn: pb.Turn) -> bool:
        """Fill in the author's turn if it is on turn and has not been notified; return whether that is so.

        Only for an author who has every entry so far. Nothing is filled in while something is under way, either: then
        there is more to come, or a sign of life.
        """
        record = self._game.peek()
        if record is None or record.size == self._told:
            return False
        found = awaited(record, self._author)
        self._told = record.size
        if found is None:
            return False
        turn.awaited, turn.seat = found
        turn.size, turn.head = record.size, record.head
        if (left_ms := self._game.left_ms(turn.seat)) is not None:
            turn.left_ms = left_ms
        if self._moves and turn.awaited == pb.AWAITED_MOVE:
            _, _, moves = await self._game.legal_moves()
            turn.moves.extend(moves[:MAX_MOVES])
            turn.more_moves = len(moves) > MAX_MOVES
        return True
