"""The streams of those who play: one game with acts going in, or all games of a principal."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from google.protobuf.message import Message

from referee.log.intent import Author
from referee.server.live.errors import BadField, BeyondHead, Draining, Elsewhere, LiveGameError, UnknownGame, Unsound
from referee.server.live.game import LiveGame
from referee.server.live.games import LiveGames
from referee.server.live.watch import Ending, Item, SeatWatcher, Watcher
from referee.server.service.calls import Gone, RequestStream, ResponseStream
from referee.server.service.seats_elsewhere import Source
from referee.server.service.turn_messages import TurnMessages
from referee.server.service.watching import begin, closing, heartbeat
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
                    # A heartbeat says as well that nothing is still to come: who comes back knows where the game is.
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
            self._game.unwatch(self._watcher)
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
                item = Item()  # of its own it tells nothing, but a turn may be still to be told
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
        """Return whether the game is told of here."""
        return game_id in self._games

    def enter(self, game_id: bytes) -> None:
        """Tell of one more game, be it only its end. Of one that is being entered nothing more has to be done."""
        if game_id not in self._entering:
            self._entering.add(game_id)
            self._seat_watcher.opened(game_id)

    async def _enter(self, game_id: bytes, after_seq: int | None, send: _Send) -> None:
        """Enter a game. Trouble with one game is reported for that game: the others go on."""
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
            pass  # the node that has it tells of it
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
            stack.callback(game.unwatch, self._seat_watcher)
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
