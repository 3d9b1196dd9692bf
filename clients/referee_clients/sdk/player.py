"""A bot's seat, from joining to the result, and all seats of one principal: the bot decides, the player signs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import grpc

from referee.log import intent
from referee.log.clocks import SeatClock
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.game import Phase
from referee.log.intent import SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.text.notation.outcomes import outcome
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee_clients.bots.bot import Bot, Ending, MakeBot
from referee_clients.join import Join, parse_join
from referee_clients.sdk.channel import Security, bearer, open_channel
from referee_clients.sdk.connection import SILENCE_S, Connection, Cut
from referee_clients.sdk.decisions import Decisions
from referee_clients.sdk.errors import ClientError, Distrust, answer_of, answer_of_failure, denied
from referee_clients.sdk.game_copy import GameCopy
from referee_clients.sdk.ledger import Ledger, check_seat, owed


@dataclass(frozen=True, slots=True)
class GameResult:
    """The end of the game, with the seat's own evidence of it."""

    seat: int
    ending: str
    """The ending, such as ``RULES``, ``STALLED`` or ``ABORTED``."""
    scores: tuple[int, ...]
    """The scores per seat; empty if the ending gives no points."""
    places: tuple[int, ...]
    """The places per seat, 1 is the winner; empty if the ending has no result."""
    outcome: str
    """The winner and the reason: ``seat 0 wins: seat 1 resigned``."""
    entries: tuple[bytes, ...]
    """The whole log, entry by entry, checked when it came."""
    receipts: tuple[bytes, ...]
    """Signed checkpoints; ``referee audit --receipt`` compares a file with them."""
    forfeited: str = ""
    """The way in which the seat forfeited, such as ``FLAG``; empty if it did not. Where others play on, there is no
    ending yet."""


class _Left(Exception):
    """The seat plays no more, and the game continues."""


class Player:
    """Plays one seat of one game."""

    def __init__(
        self,
        join: Join,
        bot: Bot | MakeBot,
        *,
        key: PrivateKey | None = None,
        copy: GameCopy | None = None,
        verifier: VerifierKey | None = None,
        patience_s: float = 300.0,
        silence_s: float = SILENCE_S,
        move_limit_s: float | None = None,
        resign_on_failure: bool = False,
        on_commit: Callable[[Ledger], None] | None = None,
        security: Security | None = None,
    ) -> None:
        """``key``: a fresh one if none is given. ``copy``: keeps the game as the seat has seen it, if it is given.

        Its earlier content is shown to the referee, and compared with the game. ``on_commit`` is called after every
        commit, to show progress.

        ``bot``: the bot, or a function that makes it once the game is known, before the seat is taken.
        ``move_limit_s``: the bot has failed if it takes longer for a move. ``resign_on_failure``: the seat resigns
        before the bot's failure is raised; otherwise it stays taken, and can be resumed.
        """
        self.join = join
        self._make_bot: MakeBot = (lambda _: bot) if hasattr(bot, "choose") else bot
        self.key = key or PrivateKey.generate()
        self.ledger = Ledger(join.game_id, verifier)
        self.connection = Connection(
            join.address, join.game_id, join.token, patience_s=patience_s, silence_s=silence_s, security=security
        )
        self._deciding = Decisions(self.ledger, join.seat, self.key, move_limit_s=move_limit_s, answered=self._answered)
        self._on_commit = on_commit
        self._copy = copy or GameCopy(None, join.game_id, str(join.seat))
        self._is_compared = False
        """The copy from an earlier run was compared with the game."""
        self.connection.checkpoint = self._copy.note
        self._sent: tuple[SignedIntent, int] | None = None
        """Our act for the head as we know it, and its seq, until the entry there is known."""
        self._thought_ms = 0
        """The time that the act took, from the start of the turn."""
        self._playing: asyncio.Task[None] | None = None
        self._resign_on_failure = resign_on_failure
        self._resigns = False
        self._sent_on = 0
        """The stream that it was last sent on."""
        self._answer_by_s = 0.0
        """The time from which on the act is taken for lost, and sent again on another stream."""
        self._sending = asyncio.Lock()
        self._current_on: int | None = None
        """The number of the stream that has sent all earlier entries."""

    async def run(self) -> GameResult:
        """Play until the game is over, or the seat has forfeited.

        Raise ``ClientError``, and whatever the bot raises.
        """
        async with self.connection as connection:
            self._playing = asyncio.create_task(connection.play(self.ledger, self._take))
            try:
                await asyncio.wait((self._playing,))
                with suppress(_Left, asyncio.CancelledError):
                    self._playing.result()
                    self._copy.finish(self.ledger)
            except ClientError as error:
                self._copy.tell(error, self.ledger)
                raise
            finally:
                tasks = [self._playing, *self._deciding.tasks]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self._copy.keep(self.ledger.entries, self.ledger.checkpoint)
                await self._leave()
        if self._deciding.failure is not None:
            raise self._deciding.failure
        return self._result()

    async def _leave(self) -> None:
        """Tell the bot how it ended."""
        is_over = self.ledger.size > 0 and self.ledger.record.game.is_over
        result = self._result() if is_over else None
        ending = Ending(result.ending, result.scores, result.places) if result is not None else None
        await self._deciding.leave(ending)

    @property
    def clock(self) -> SeatClock | None:
        """Our clock after the newest entry; None in a game without one, or before we have seen it."""
        if not self.ledger.size or (clocks := self.ledger.record.game.clocks) is None:
            return None
        return clocks.seat(self.join.seat)

    async def resign(self) -> None:
        """Leave the game: at once, or as soon as the sent messages are answered. Raise ``Cut``."""
        self._resigns = True
        if self.ledger.size and self._sent is None:
            await self._act()

    async def _take(self, message: pb.PlayGameResponse) -> None:
        if message.HasField("commit") or message.HasField("turn"):
            self._deciding.hear()
        if message.HasField("commit"):
            self._deciding.note()
        self._settle(message)
        if message.HasField("commit") and self._on_commit is not None:
            self._on_commit(self.ledger)
        if message.HasField("turn") or message.HasField("heartbeat"):
            self._current_on = self.connection.reconnects
        if self._is_compared:  # the entries here are no fewer than the kept ones
            self.connection.checkpoint = self.ledger.checkpoint
        if self._current_on == self.connection.reconnects:
            self._check_head()
            self._check_seat()
        is_heard = message.HasField("commit") and (self._resigns or self._deciding.has_to_agree())
        if message.HasField("turn") or is_heard:
            await self._act()
        elif message.HasField("heartbeat"):
            # Nothing is on its way to us: the awaited message was lost, be it a turn or an answer.
            if self._sent is None or self._sent_on != self.connection.reconnects:
                await self._act()
            elif time.monotonic() >= self._answer_by_s:
                raise Cut("no answer to an act")

    def _settle(self, message: pb.PlayGameResponse) -> None:
        """Settle our act, if the message says what became of it. The entries say so; an answer only says why there is
        none.
        """
        if self._sent is None:
            return
        signed, seq = self._sent
        if self.ledger.size > seq:  # its place is taken: by it, or by another, and then it is void
            self._sent = None
            if self.ledger.holds(signed.intent, seq):
                self._deciding.entered()
                self.ledger.receipts.append(message.commit.checkpoint)
        elif message.HasField("answer") and message.answer.id == seq:
            self._missing(message.answer)

    def _missing(self, told: pb.Answer) -> None:
        """Raise what follows from an answer to an act that is in no entry."""
        if told.HasField("refused"):
            broken = "; ".join(violation.text or violation.rule_id for violation in told.refused.violations)
            raise ClientError(f"the referee refused a move that our rules allow: {broken}", in_doubt=True)
        if not told.HasField("failure"):
            raise Distrust(f"the referee accepted an act, but entry {told.id} is not in the log", in_doubt=True)
        answer = answer_of_failure(told.failure)
        if answer.passes:
            raise Cut(str(answer), answer.retry_s)
        if answer.reason == "STALE_HEAD" and answer.metadata.get("size") == str(told.id):
            raise Distrust(
                f"the act was made for {told.id} entries, and the referee has as many: {answer}", in_doubt=True
            )
        if answer.reason not in ("STALE_HEAD", "GAME_OVER"):  # of these the entries tell
            raise denied(answer)

    def _check_head(self) -> None:
        """Raise ``Distrust`` if the referee has lost what it had signed before we were stopped, and does not say so."""
        if self._is_compared:
            return
        self._is_compared = True
        if problem := self._copy.compare(self.ledger.entries):
            raise Distrust(problem)

    def _check_seat(self) -> None:
        """Raise ``Denied`` if the seat is not ours to play, and ``_Left`` once it has forfeited."""
        game, seat = self.ledger.record.game, self.join.seat
        check_seat(self.ledger.record, seat, self.key.public)
        is_told = self._resigns and self._deciding.failure is None  # of how the game ends
        if seat in game.arbitration.out and not game.is_over and not is_told:
            raise _Left

    async def _act(self) -> None:
        """Sign and send what the game awaits from this seat, if it does; for one head always the same bytes."""
        async with self._sending:
            if self._sent is None:
                if not self._is_compared and self._copy.note:
                    return  # the game is not here as a whole yet
                # Before the next act is signed: whatever becomes of us and the referee, one of us knows this head.
                await self._copy.begin(self.connection, self.join.token, self.ledger.record.opened.header_hash)
                self._copy.keep(self.ledger.entries, self.ledger.checkpoint)
                signed = self._due()
                if signed is None:
                    return
                self._sent = signed, self.ledger.size
                self._thought_ms = self._deciding.thought_ms
            self._sent_on = self.connection.reconnects
            self._answer_by_s = time.monotonic() + self.connection.silence_s / 3
            await self.connection.send(*self._sent, self._thought_ms)

    def _due(self) -> SignedIntent | None:
        record, seat = self.ledger.record, self.join.seat
        game = record.game
        if self._deciding.bot is None:
            self._deciding.bot = self._make_bot(record.opened.rules_id)
        if (signed := owed(record, seat, self.key)) is not None:
            return signed
        author = Author(Role.SEAT, seat)
        if self._resigns:
            can_resign = record.phase is Phase.PLAYING and game.reached() is None
            leaves = can_resign and seat not in game.arbitration.out
            return intent.act(record.place, author, self.key, log_pb2.Resign()) if leaves else None
        match self._deciding.due():
            case None:
                return None
            case bytes() as move:
                return intent.move(record.place, author, self.key, move)
            case act:
                return intent.act(record.place, author, self.key, act)

    async def _answered(self) -> None:
        """Act on the bot's answer."""
        if self._deciding.failure is not None:
            self._resigns |= self._resign_on_failure and self.ledger.record.game.arbitration.is_offered
            if not self._resigns and self._playing is not None:
                self._playing.cancel()
                return
        self._resigns |= self._deciding.resigns
        with suppress(Cut):  # it is sent again as soon as there is a stream
            await self._act()

    def _result(self) -> GameResult:
        game = self.ledger.record.game
        end = game.end
        return GameResult(
            self.join.seat,
            end.ending.name if end is not None else "UNSPECIFIED",
            end.scores if end is not None else (),
            end.places if end is not None else (),
            outcome(game.result(), game.contest(), waits=game.result_waits),
            tuple(self.ledger.entries),
            tuple(self.ledger.receipts),
            forfeit.name if (forfeit := game.arbitration.out.get(self.join.seat)) is not None else "",
        )


async def play_async(
    join: str | Join,
    bot: Bot | MakeBot,
    *,
    key_file: Path | None = None,
    log_copy: bool = True,
    verifier: str | None = None,
    patience_s: float = 300.0,
    move_limit_s: float | None = None,
    resign_on_failure: bool = False,
    on_commit: Callable[[Ledger], None] | None = None,
    security: Security | None = None,
) -> GameResult:
    """Play as ``play`` does, within an event loop."""
    try:
        key = _key(key_file)
        trusted = VerifierKey.parse(verifier.strip()) if verifier else None
    except (LogError, OSError) as error:
        raise ClientError(str(error)) from error
    place = parse_join(join) if isinstance(join, str) else join
    copy = GameCopy.beside(key_file, place.game_id, place.seat, trusted, keeps_end=log_copy)
    player = Player(
        place,
        bot,
        key=key,
        copy=copy,
        verifier=trusted,
        patience_s=patience_s,
        move_limit_s=move_limit_s,
        resign_on_failure=resign_on_failure,
        on_commit=on_commit,
        security=security,
    )
    return await player.run()


def play(
    join: str | Join,
    bot: Bot | MakeBot,
    *,
    key_file: Path | None = None,
    log_copy: bool = True,
    verifier: str | None = None,
    patience_s: float = 300.0,
    move_limit_s: float | None = None,
    resign_on_failure: bool = False,
    on_commit: Callable[[Ledger], None] | None = None,
    security: Security | None = None,
) -> GameResult:
    """Take the seat of a join string and play the game to its end; the bot is asked for every move.

    ``bot``: the bot, or a function that makes it once the game is known: ``referee_clients.bots.maker`` finds ours by
    name. ``key_file``: where the seat's private key is kept, so that a bot that was stopped can be started again;
    without it the key dies with the process. Beside it is the seat's copy of the game, ``GAME-SEAT.gamelog``.
    ``log_copy``: a game that is over leaves ``GAME.gamelog`` there, and the newest 200 of these files stay.
    ``verifier``: the referee's verifier key, to check what it signs. ``move_limit_s``, ``resign_on_failure``: as for
    ``Player``. ``security``: as the environment says, if not given. A seat that forfeits ends at once, though others
    may play on. Raise ``JoinError`` and ``ClientError``, and the bot's errors.
    """
    return asyncio.run(
        play_async(
            join,
            bot,
            key_file=key_file,
            log_copy=log_copy,
            verifier=verifier,
            patience_s=patience_s,
            move_limit_s=move_limit_s,
            resign_on_failure=resign_on_failure,
            on_commit=on_commit,
            security=security,
        )
    )


def _key(path: Path | None) -> PrivateKey:
    if path is None:
        return PrivateKey.generate()
    if path.exists():
        return PrivateKey.load(path)
    key = PrivateKey.generate()
    key.save(path)
    return key


# --- every game of one principal: one token, one stream that reports them, a bot for each ---------------------------


Ended = Callable[[str, GameResult | Exception], None]
_CALL_S = 15.0


async def play_all(
    address: str,
    token: str,
    make_bot: MakeBot,
    on_end: Ended,
    *,
    at_once: int | None = None,
    key_file: Callable[[Join], Path] | None = None,
    log_copy: bool = True,
    verifier: str | None = None,
    patience_s: float = 300.0,
    move_limit_s: float | None = None,
    resign_on_failure: bool = False,
    security: Security | None = None,
) -> None:
    """Play in every game that awaits the token's bearer, each with a bot of its own, until cancelled.

    ``on_end`` is called with each game's id and its result or error: the other games continue, and one that failed is
    not tried again. ``at_once``: no further seat is taken while this number is played; the games then come in the order
    in which they were opened, so that players who share games never wait for each other. ``key_file`` returns where a
    seat's key is kept: with it, games are resumed after a restart. ``log_copy``: as for ``play``. Raise ``ClientError``
    when the referee is away for too long or does not admit the token.
    """
    players: dict[str, asyncio.Task[GameResult]] = {}
    waiting: dict[str, Join] = {}
    """Seats to take, by game: the one that was opened first comes first."""
    failed = set[str]()

    def start(join: Join) -> None:
        player = play_async(
            join,
            make_bot,
            key_file=key_file(join) if key_file is not None else None,
            log_copy=log_copy,
            verifier=verifier,
            patience_s=patience_s,
            move_limit_s=move_limit_s,
            resign_on_failure=resign_on_failure,
            security=security,
        )
        players[join.game_id] = asyncio.create_task(player)
        players[join.game_id].add_done_callback(lambda done: ended(join.game_id, done))

    def fill() -> None:
        while waiting and (at_once is None or len(players) < at_once):
            start(waiting.pop(next(iter(waiting))))

    def ended(game_id: str, player: asyncio.Task[GameResult]) -> None:
        if player.cancelled():
            return
        del players[game_id]
        error = player.exception()
        if isinstance(error, Exception):
            failed.add(game_id)
        on_end(game_id, error if isinstance(error, Exception) else player.result())
        fill()

    async def take(message: pb.WatchSeatResponse) -> None:
        game_id = message.game_id
        if message.update.HasField("closing"):
            waiting.pop(game_id, None)
        # A turn says which seat is the bearer's. Until the first one there is nothing to do.
        if not message.HasField("turn") or game_id in players or game_id in failed:
            return
        join = Join(address, game_id, message.turn.seat, token)
        if message.turn.awaited == pb.AWAITED_JOIN:
            waiting.setdefault(game_id, join)
            fill()
        else:  # taken before, and its clock may run
            start(join)

    try:
        async with Connection(address, "", token, patience_s=patience_s, security=security) as connection:
            await connection.seats(take)
    finally:
        started = list(players.values())
        for player in started:
            player.cancel()
        await asyncio.gather(*started, return_exceptions=True)


async def check_principal(address: str, token: str, principal: str, security: Security | None = None) -> None:
    """Raise ``ClientError`` if the token is another's; a referee that is away is not asked."""
    request = pb.ListGamesRequest(principal=principal, page_size=1)
    async with open_channel(address, token, security) as channel:
        try:
            await pb_grpc.GameServiceStub(channel).ListGames(request, timeout=_CALL_S, metadata=bearer(token))
        except grpc.aio.AioRpcError as error:
            if not (answer := answer_of(error)).passes:
                raise denied(answer) from error
