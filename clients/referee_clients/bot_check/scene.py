"""The games in which a bot is checked: a referee in a process of its own, a relay before it, prepared positions.

The module knows the messages that pass through the relay, and no check.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from referee.games import alhambra, registry
from referee.games.game import Decision, ForcedPass
from referee.log import intent
from referee.log.errors import LogError
from referee.log.events import Author, Role
from referee.log.intent import Place, SignedIntent, decode_intent
from referee.log.keys import PrivateKey
from referee.log.v1 import log_pb2
from referee.process.child import Child as ChildProcess
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.v1 import game_service_pb2_grpc as pb_grpc
from referee.wire import registry as wire
from referee_clients.bot_check.catalogue import Wrong
from referee_clients.bot_check.positions import Position
from referee_clients.bot_check.relay import Meddle, Party, Plan, Relay, Way
from referee_clients.bot_check.subject import Subject
from referee_clients.bots import load
from referee_clients.children import Child, Children, read
from referee_clients.join import format_join
from referee_clients.sdk.channel import bearer, open_channel
from referee_clients.sdk.errors import Denied, answer_of, denied
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import Opened, organiser
from referee_clients.sdk.player import GameResult, Player

OUTPUT_BYTES = 1 << 20
"""The part of a bot's output that is looked at."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The time limits of a bot, in seconds."""

    game_s: float = 90.0
    """The limit for a whole game, breaks included."""
    leave_s: float = 15.0
    """The limit from the end of the game until its process has ended."""
    silence_s: float = 60.0
    """The limit for a game with a stream that falls silent."""
    flood_s: float = 4.0
    """The time without any message, to count its attempts."""
    clock_s: float = 60.0
    """The time on its clock at the beginning."""


class Seen:
    """The messages that the bot sent and received, over all streams of one game."""

    def __init__(self) -> None:
        self.acts: dict[tuple[int, bytes], set[bytes]] = {}
        """The intents that it sent for each head."""
        self.kinds: list[str] = []
        """The kind of each act that came for the first time: ``join``, ``reveal``, ``move``."""
        self.entered = 0
        """Streams that it began."""
        self.refused: list[str] = []
        """The rules that moves of its broke."""
        self.failures: list[str] = []
        """Reasons of the referee's, without their prefix."""
        self.moves_without_time = 0
        self.closings: list[str] = []
        self.listed = False
        """A turn came with the legal moves that a check wanted."""

    def read(self, way: Way, data: bytes) -> None:
        """Take note of a message of PlayGame."""
        if way is Way.UP:
            self._read_up(pb.PlayGameRequest.FromString(data))
            return
        told = pb.PlayGameResponse.FromString(data)
        if told.answer.HasField("refused"):
            self.refused += [each.rule_id for each in told.answer.refused.violations]
        if told.answer.HasField("failure"):
            self.failures.append(pb.ErrorReason.Name(told.answer.failure.reason).removeprefix("ERROR_REASON_"))
        if told.HasField("closing"):
            self.closings.append(pb.ClosingReason.Name(told.closing.reason).removeprefix("CLOSING_REASON_"))

    def _read_up(self, asked: pb.PlayGameRequest) -> None:
        if asked.HasField("enter"):
            self.entered += 1
            return
        try:
            intent = decode_intent(asked.act.intent)
        except LogError:
            return  # the referee says so
        acts = self.acts.setdefault((intent.seq, intent.prev), set())
        if asked.act.intent not in acts:
            kind = intent.WhichOneof("act") or ""
            self.kinds.append(kind)
            self.moves_without_time += kind == "move" and not asked.act.HasField("thought_ms")
        acts.add(asked.act.intent)


@dataclass(slots=True)
class Play:
    """One game: the bot has one seat, a bot that plays at random the other."""

    name: str
    opened: Opened
    seat: int
    """The bot's."""
    folder: Path
    seen: Seen
    party: Party
    opponent: Player
    command: Sequence[str]
    env: dict[str, str]
    staged: int = 0
    """Entries that were there before the bot was started for the first time."""
    size: int = 0
    """Entries, as the opponent has seen them."""
    process: ChildProcess | None = None
    result: asyncio.Task[GameResult] | None = None
    grown: asyncio.Condition = field(default_factory=asyncio.Condition)
    _told: asyncio.Task[None] | None = None

    @property
    def token(self) -> str:
        return self.opened.joins[self.seat].token

    def oppose(self) -> None:
        """Have the opponent take its seat, if it has not yet."""
        if self.result is None:
            self.result = asyncio.create_task(self.opponent.run())

    async def start(self) -> None:
        """Start the bot, for the first time or again. Raise ``Wrong``."""
        with (self.folder / "output").open("ab") as output:
            try:
                self.process = await ChildProcess.start(self.command, stdout=output, stderr=output, env=self.env)
            except OSError as error:
                raise Wrong(f"it cannot be started: {error.strerror}") from None

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the bot and whatever it has started."""
        if self.process is not None:
            self.process.signal_group(how)

    async def reached(self, size: int) -> None:
        """Wait until the game has this number of entries."""
        async with self.grown:
            await self.grown.wait_for(lambda: self.size >= size)

    def took(self, ledger: Ledger) -> None:
        """Take note of how far the opponent has come."""
        self.size = ledger.size
        self._told = asyncio.create_task(self._tell())

    async def _tell(self) -> None:
        async with self.grown:
            self.grown.notify_all()

    def output(self) -> str:
        """Return what the bot has written, as text."""
        with (self.folder / "output").open("rb") as file:
            return file.read(OUTPUT_BYTES).decode(errors="replace")

    def last_words(self) -> str:
        """Return the last line of it that names an error, or says something, to be shown."""
        lines = [line.strip() for line in self.output().splitlines() if line.strip()]
        lines = [line for line in lines if "rror: " in line] or lines
        return f": {lines[-1][:200]}" if lines else ""


class Referee:
    """One referee in a process of its own, which is stopped with the children, and the relay before it."""

    def __init__(self, children: Children, folder: Path) -> None:
        """``folder``: for its games; there is none of that name yet."""
        self.address = "127.0.0.1:0"
        self.way = ""
        """The relay's address."""
        self.relay: Relay
        self._children = children
        self._folder = folder
        self._child: Child
        self._restarts = asyncio.Lock()

    @property
    def token(self) -> str:
        """Return the organiser's."""
        return read(str(self._folder / "organiser.token"))

    async def begin(self) -> None:
        """Start it. Raise ``ChildFailed``."""
        where = ("serve", "--data", str(self._folder), "--listen", self.address, "--json")
        quiet = ("--log-level", "error", "--solver-workers", "0")
        self._child = await self._children.start("referee", [*where, *quiet], speaks=True)
        self.address = json.loads(await self._child.line())["address"]

    async def restart(self, how: signal.Signals) -> None:
        """End it, and start it again at the same address."""
        async with self._restarts:
            self._child.process.send(how)
            await self._child.process.wait()
            await self.begin()

    @asynccontextmanager
    async def relayed(self) -> AsyncIterator[Referee]:
        """Have it, and the relay, while it lasts."""
        await self.begin()
        self.relay = Relay(self.address)
        async with self.relay as self.way:
            yield self


class Scene:
    """Games of one bot at a referee. ``async with`` it: at the end every bot is stopped."""

    def __init__(self, subject: Subject, rules_id: str, referee: Referee, folder: Path) -> None:
        """``folder``: for the bots' inputs and outputs; it exists."""
        self.plays: list[Play] = []
        self.referee = referee
        self._subject = subject
        self._rules_id = rules_id
        self._folder = folder

    async def __aenter__(self) -> Scene:
        return self

    async def __aexit__(self, *_: object) -> None:
        for play in self.plays:
            play.stop()
        for play in self.plays:
            if play.process is not None:
                await play.process.wait()
            if play.result is not None:
                play.result.cancel()
                await asyncio.gather(play.result, return_exceptions=True)

    async def play(
        self,
        name: str,
        *,
        plan: Plan = lambda *_: None,
        meddle: Callable[[Play], Meddle] | None = None,
        terms: log_pb2.Terms | None = None,
        is_short: bool = False,
        waits: bool = False,
    ) -> Play:
        """Open a game and start the bot for it. Raise ``Wrong``. ``waits``: the opponent comes later, by ``oppose``."""
        async with organiser(self.referee.address, self.referee.token) as organising:
            opened = await organising.open_game(self._rules_id, 2, self._options(is_short), terms)
        return await self._begun(self._laid(name, opened, plan=plan), meddle, waits=waits)

    async def stage(self, name: str, position: Position, *, meddle: Callable[[Play], Meddle] | None = None) -> Play:
        """Bring a game to the position, and start the bot there as if it had been stopped before: its key has joined.

        No later draw is declared: ``Scene.abort`` ends the game. Raise ``Wrong``.
        """
        scribe, keys = PrivateKey.generate(), [PrivateKey.generate() for _ in range(2)]
        async with organiser(self.referee.address, self.referee.token) as organising:
            opened = await organising.open_game(self._rules_id, 2, scribe=scribe.public.raw)
        size = await bring(opened, self._rules_id, position.events, keys=keys, scribe=scribe)
        play = self._laid(name, opened, position.seat, keys[1 - position.seat])
        keys[position.seat].save(play.folder / "key")
        play.staged = size
        return await self._begun(play, meddle)

    async def abort(self, play: Play) -> None:
        """End the game without a result, unless it is over. Raise ``Denied``."""
        async with organiser(self.referee.address, self.referee.token) as organising:
            try:
                await organising.abort(play.opened.game_id)
            except Denied:
                if (await organising.game(play.opened.game_id)).state != game_pb2.GAME_STATE_OVER:
                    raise

    def _laid(
        self,
        name: str,
        opened: Opened,
        seat: int = 0,
        other_key: PrivateKey | None = None,
        *,
        plan: Plan = lambda *_: None,
    ) -> Play:
        """Return the play, with a folder that has the bot's join string; no seat plays yet."""
        folder = self._folder / name
        folder.mkdir()
        own, other = opened.joins[seat], opened.joins[1 - seat]
        line = format_join(self.referee.way, own.game_id, own.seat, own.token)
        (folder / "join").touch(0o600)
        (folder / "join").write_text(line + "\n", encoding="ascii")

        def took(ledger: Ledger) -> None:
            play.took(ledger)

        play = Play(
            name,
            opened,
            seat,
            folder,
            Seen(),
            Party(name, plan),
            Player(other, load("random", self._rules_id, 1), key=other_key, on_commit=took),
            self._subject.command(folder / "join", folder / "key", opened.verifier),
            os.environ | {"REFEREE_JOIN": line},
        )
        return play

    async def _begun(self, play: Play, meddle: Callable[[Play], Meddle] | None = None, *, waits: bool = False) -> Play:
        """Have what passes watched and meddled with, and both play. Raise ``Wrong``."""
        more = meddle(play) if meddle is not None else None

        async def passed(way: Way, data: bytes) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
            play.seen.read(way, data)
            return await more(way, data) if more is not None else ((data,), ())

        play.party.meddle = passed
        self.referee.relay.parties[play.token] = play.party
        await play.start()
        self.plays.append(play)
        if not waits:
            play.oppose()
        return play

    def _options(self, is_short: bool) -> bytes:
        """Return options of a game that is over soon, if the game has such."""
        game = registry.get(self._rules_id)
        if not is_short or self._rules_id != "alhambra":
            return b""
        options: bytes = wire.codec(game.rules_id, game.version).encode_options(alhambra.Options(max_turns=16))
        return options


# --- a game that is brought to a position: both seats play, a scribe declares the draws -----------------------------


CALL_S = 15.0


async def bring(
    opened: Opened, rules_id: str, events: Sequence[Any], *, keys: Sequence[PrivateKey], scribe: PrivateKey
) -> int:
    """Have each seat join under its key, then have all these events happen. Return the number of entries.

    ``opened``: a game with default options and empty seats, whose chance ``scribe`` declares. ``events``: moves,
    outcomes and forced passes, from the beginning of play on. Raise ``Denied``.
    """
    async with open_channel(opened.joins[0].address) as channel:
        stage = _Stage(channel, opened)
        await stage.begin()
        for seat, key in enumerate(keys):
            await stage.enter(intent.join(stage.place, seat, key, None), opened.joins[seat].token)
        rules = registry.get(rules_id)
        codec, components = wire.codec(rules_id, rules.version), rules.default_components()
        state = rules.new(len(keys), None, None)
        for event in events:
            match state.pending()[0]:
                case _ if isinstance(event, ForcedPass):
                    pass  # the referee enters it unasked
                case Decision(seat):
                    move = codec.encode_move(event, components)
                    signed = intent.move(stage.place, Author(Role.SEAT, seat), keys[seat], move)
                    await stage.enter(signed, opened.joins[seat].token)
                case _:
                    outcome = codec.encode_outcome(event, components)
                    await stage.enter(intent.declare(stage.place, 0, scribe, outcome), opened.scribe_token)
            state.apply(event)
        return stage.place.seq


class _Stage:
    """A game, and its head after the newest act."""

    place: Place

    def __init__(self, channel: grpc.aio.Channel, opened: Opened) -> None:
        self._stub = pb_grpc.GameServiceStub(channel)
        self._opened = opened

    async def begin(self) -> None:
        """Ask for the head. Raise ``Denied``."""
        game_id = self._opened.game_id
        try:
            told = await self._stub.GetGame(pb.GetGameRequest(game_id=game_id), timeout=CALL_S, wait_for_ready=True)
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None
        self.place = Place(bytes.fromhex(game_id), told.game.size, told.game.head)

    async def enter(self, signed: SignedIntent, token: str) -> None:
        """Have the act entered. Raise ``Denied``."""
        request = pb.SubmitIntentRequest(game_id=self._opened.game_id, intent=signed.intent, signature=signed.signature)
        try:
            told = await self._stub.SubmitIntent(request, timeout=CALL_S, metadata=bearer(token))
        except grpc.aio.AioRpcError as error:
            raise denied(answer_of(error)) from None
        self.place = Place(self.place.game_id, told.accepted.size, told.accepted.head)
