"""A bot's seat, from joining to the result: what the rules await from the seat is signed and sent, nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from referee.log import intent
from referee.log.clocks import SeatClock
from referee.log.errors import LogError
from referee.log.game import Phase
from referee.log.intent import Author, Role, SignedIntent
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.notation.outcomes import outcome
from referee.v1 import game_service_pb2 as pb
from referee_clients.bots.bot import Bot, MakeBot
from referee_clients.join import Join, parse_join
from referee_clients.sdk.channel import Security
from referee_clients.sdk.connection import SILENCE_S, Connection, Cut
from referee_clients.sdk.errors import BadMove, ClientError, Denied, Distrust, answer_of_failure, denied
from referee_clients.sdk.ledger import Ledger


@dataclass(frozen=True, slots=True)
class GameResult:
    """How the game ended, with the seat's own evidence of it."""

    seat: int
    ending: str
    """Such as ``RULES``, ``STALLED`` or ``ABORTED``."""
    scores: tuple[int, ...]
    """Per seat; empty if the ending gives no points."""
    places: tuple[int, ...]
    """Per seat, 1 is the winner; empty if the ending has no result."""
    outcome: str
    """Who has won and why: ``seat 0 wins: seat 1 resigned``."""
    entries: tuple[bytes, ...]
    """The whole log, entry by entry, checked when it came."""
    receipts: tuple[bytes, ...]
    """Signed checkpoints; ``referee audit --receipt`` compares a file with them."""


class Player:
    """Plays one seat of one game."""

    def __init__(
        self,
        join: Join,
        bot: Bot | MakeBot,
        *,
        key: PrivateKey | None = None,
        verifier: VerifierKey | None = None,
        patience_s: float = 300.0,
        silence_s: float = SILENCE_S,
        on_commit: Callable[[Ledger], None] | None = None,
        security: Security | None = None,
    ) -> None:
        """``key``: a fresh one if none is given. ``on_commit`` is called after every commit, to show progress.

        ``bot``: itself, or what makes it once the game is known, before the seat is taken.
        """
        self.join = join
        self._make_bot: MakeBot = (lambda _: bot) if hasattr(bot, "choose") else bot
        self._bot: Bot | None = None
        self.key = key or PrivateKey.generate()
        self.ledger = Ledger(join.game_id, verifier)
        self.connection = Connection(
            join.address, join.game_id, join.token, patience_s=patience_s, silence_s=silence_s, security=security
        )
        self._on_commit = on_commit
        self._sent: tuple[SignedIntent, int] | None = None
        """Our act for the head as we know it, and its seq, until the entry there is known."""
        self._thought_ms = 0
        """What that act took us, from having the turn on."""
        self._turn_s = time.monotonic()
        """When we learnt of the newest entry, or that it is our turn."""
        self._resigns = self._is_choosing = False
        self._sent_on = 0
        """The stream that it was last sent on."""
        self._answer_by_s = 0.0
        """From then on the act is taken for lost, and sent again on another stream."""
        # The seed follows from the key, so that a key that was saved is enough to come back at any moment. Nobody
        # else can make this signature, and it is over no message that is ever sent.
        label = b"tile-referee/v1/client-seed\0" + bytes.fromhex(join.game_id)
        self._seed = sha256(self.key.sign(label)).digest()

    async def run(self) -> GameResult:
        """Play to the end. Raise ``ClientError``, and whatever the bot raises."""
        async with self.connection as connection:
            await connection.play(self.ledger, self._take)
        return self._result()

    @property
    def clock(self) -> SeatClock | None:
        """Our clock after the newest entry; None in a game without one, or before we have seen it."""
        if not self.ledger.size or (clocks := self.ledger.record.game.clocks) is None:
            return None
        return clocks.seat(self.join.seat)

    async def resign(self) -> None:
        """Leave the game: at once, or as soon as what was sent before is answered. Raise ``Cut``."""
        self._resigns = True
        if self.ledger.size and self._sent is None and not self._is_choosing:
            await self._act()

    async def _take(self, message: pb.PlayGameResponse) -> None:
        if message.HasField("commit") or message.HasField("turn"):
            self._turn_s = time.monotonic()
        self._settle(message)
        if message.HasField("commit") and self._on_commit is not None:
            self._on_commit(self.ledger)
        if message.HasField("turn") or (self._resigns and message.HasField("commit")):
            await self._act()
        elif message.HasField("heartbeat"):
            # Nothing is on its way to us: what we wait for was lost, be it a turn or an answer.
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

    async def _act(self) -> None:
        """Sign and send what the game awaits from this seat, if it does; for one head always the same bytes."""
        if self._sent is None:
            signed = await self._due()
            if signed is None:
                return
            self._sent = signed, self.ledger.size
            self._thought_ms = int(1000 * (time.monotonic() - self._turn_s))
        self._sent_on = self.connection.reconnects
        self._answer_by_s = time.monotonic() + self.connection.silence_s / 3
        await self.connection.send(*self._sent, self._thought_ms)

    async def _due(self) -> SignedIntent | None:
        record, seat = self.ledger.record, self.join.seat
        joined = record.game.joins.get(seat)
        if self._bot is None:
            self._bot = self._make_bot(record.opened.rules_id)
        if joined is None and record.phase is Phase.JOINING:
            if seat >= len(record.opened.seats) or record.opened.seats[seat].scribed:
                raise Denied(f"seat {seat} cannot be taken: the game does not have it, or a scribe enters its moves")
            return intent.join(record.place, seat, self.key, self._seed if record.game.deal.is_dealt else None)
        if joined is None:
            return None
        if joined.key != self.key.public.raw:
            raise Denied(f"seat {seat} was taken with another key")
        if record.phase is Phase.REVEALING and seat not in record.game.deal.seeds:
            return intent.reveal(record.place, seat, self.key, self._seed)
        author = Author(Role.SEAT, seat)
        if seat in record.game.awaited() and not self._resigns:
            move = await self._chosen(self._bot)
            if not self._resigns:
                return intent.move(record.place, author, self.key, move)
        if self._resigns and record.game.goes_on and seat not in record.game.arbitration.out:
            return intent.act(record.place, author, self.key, log_pb2.Resign())
        return None

    async def _chosen(self, bot: Bot) -> bytes:
        """Ask the bot, in a thread, as it may think for long. Raise ``BadMove``."""
        game = self.ledger.record.game
        moves: tuple[Any, ...] = tuple(game.position.state.legal_moves())
        self._is_choosing = True
        try:
            move = await asyncio.to_thread(bot.choose, game.position.state.observation(self.join.seat), moves)
        finally:
            self._is_choosing = False
        try:
            data = game.position.codec.encode_move(move, game.position.components)
        except Exception as error:
            raise BadMove(f"the bot chose {move!r}, which is not a move of this game") from error
        if move not in moves:  # legal all the same, perhaps: a list may leave some out
            violations = game.position.state.check(move)
            texts = {rule.id: rule.text for rule in game.position.rules.catalogue}
            broken = "; ".join(f"{violation.rule_id}: {texts.get(violation.rule_id)}" for violation in violations)
            if violations:
                raise BadMove(f"the bot chose {move!r}, which is against the rules: {broken}")
        return data

    def _result(self) -> GameResult:
        game = self.ledger.record.game
        end = game.end
        return GameResult(
            self.join.seat,
            end.ending.name if end is not None else "UNSPECIFIED",
            end.scores if end is not None else (),
            end.places if end is not None else (),
            outcome(end, game.contest()),
            tuple(self.ledger.entries),
            tuple(self.ledger.receipts),
        )


async def play_async(
    join: str | Join,
    bot: Bot | MakeBot,
    *,
    key_file: Path | None = None,
    verifier: str | None = None,
    patience_s: float = 300.0,
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
    player = Player(
        place, bot, key=key, verifier=trusted, patience_s=patience_s, on_commit=on_commit, security=security
    )
    return await player.run()


def play(
    join: str | Join,
    bot: Bot | MakeBot,
    *,
    key_file: Path | None = None,
    verifier: str | None = None,
    patience_s: float = 300.0,
    on_commit: Callable[[Ledger], None] | None = None,
    security: Security | None = None,
) -> GameResult:
    """Take the seat of a join string and plays the game to its end; the bot is asked for every move.

    ``bot``: itself, or what makes it once the game is known: ``referee_clients.bots.maker`` finds ours by name.
    ``key_file``: where the seat's private key is kept, so that a bot that was stopped can be started again; without
    it the key dies with the process. ``verifier``: the referee's verifier key, to check what it signs. ``security``:
    as the environment says, if not given. Raise ``JoinError`` and ``ClientError``, and whatever the bot raises.
    """
    return asyncio.run(
        play_async(
            join,
            bot,
            key_file=key_file,
            verifier=verifier,
            patience_s=patience_s,
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
