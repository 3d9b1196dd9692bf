"""Two games with one public history and two decks, played side by side, and every byte that anybody is sent of them.

Each game has a referee of its own, with a random r that it commits to. The only thing that is not as in service: the
first draws of every shuffle are the same in both games, and only from then on does the committed deck decide. So
whatever differs before that, but for values that are made from C_r, tells of cards that lie in the deck.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any
from zlib import crc32

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from referee.games import registry as games
from referee.games.alhambra import options as alhambra
from referee.games.game import Dealer, Stream
from referee.games.kingdomino import options as kingdomino
from referee.games.kingdomino.options import Central, Draw, Frame
from referee.games.rollwrite import options as rollwrite
from referee.games.rollwrite.options import Solo
from referee.log.deck import Deck, deck_key, referee_commitment, seat_commitment
from referee.log.engines import Engines
from referee.log.entry import decode_entry
from referee.log.events import Author, Role
from referee.log.game import LoggedGame
from referee.log.merkle import Tree, leaf_hash
from referee.log.v1 import log_pb2
from referee.server.live.opening import token_digest
from referee.server.live.view import awaited
from referee.server.service import logs
from referee.server.service.data import Data
from referee.server.service.server import Config, Server
from referee.v1 import game_service_pb2 as pb
from referee.v1 import status_service_pb2
from referee.wire import registry as codecs
from referee.wire.certificates import registry as certificates
from tests.server.service.engines import place
from tests.server.service.player import SCRIBE, Client, Play, bearer, seat_seed
from tests.virtual_time import VirtualTime


def _dice(pairs: int) -> frozenset[str]:
    return frozenset(f"dice/{number}/{die}" for number in range(pairs) for die in ("blue", "yellow"))


@dataclass(frozen=True)
class Game:
    """The game to play, and which draws are the same in both games."""

    options: Any
    seats: int = 3
    scribed: tuple[int, ...] = (2,)
    kept: Mapping[str, int] = field(default_factory=dict)
    """By shuffle: the number of first draws that are the same."""
    known: frozenset[str] = frozenset()
    """Numbers that are no part of a shuffle."""

    @property
    def rules_id(self) -> str:
        return type(self.options).__module__.split(".")[2]

    @property
    def encoded(self) -> bytes:
        """The options."""
        encoded: bytes = codecs.codec(self.rules_id, games.get(self.rules_id).version).encode_options(self.options)
        return encoded

    @property
    def unscribed(self) -> list[int]:
        """The seats that play for themselves."""
        return [seat for seat in range(self.seats) if seat not in self.scribed]


def _dominoes(count: int, **options: Any) -> Game:
    seats, scribed = options.pop("seats", 3), options.pop("scribed", (2,))
    known = frozenset({"first/seat"})
    return Game(kingdomino.Options(**options), seats, scribed, {"shuffle/dominoes/0": count, "first/kings": 99}, known)


_MONEY = {"shuffle/tiles/0": 14, "shuffle/money/0": 42}
GAMES = {
    "alhambra": Game(alhambra.Options(), kept=_MONEY, known=frozenset({"pile/2"})),
    "alhambra with a neutral player": Game(
        alhambra.Options(), 2, (1,), {"shuffle/tiles/0": 24, "shuffle/money/0": 34}, frozenset({"pile/2"})
    ),
    "kingdomino of two": _dominoes(16, seats=2, scribed=(1,), frame=Frame.RELATIVE, first_order=Draw.KINGS),
    "kingdomino, mighty duel": _dominoes(18, seats=2, scribed=(1,), mighty_duel=True, harmony=True),
    "kingdomino, wider offer": _dominoes(18, wider_offer=True, first_order=Draw.KINGS, central=Central.KINGDOM),
    "kingdomino of four": _dominoes(14, seats=4, scribed=(3,), dynasty=True, declared_order=(2, 0, 3, 1)),
    "rollwrite of two with a virtual player": Game(rollwrite.Options(start_seat=1), 2, (1,), known=_dice(30)),
    "rollwrite of five": Game(rollwrite.Options(), 5, (2, 3), known=_dice(45) | {"start"}),
    "rollwrite alone with virtual players": Game(
        rollwrite.Options(virtual_players=4, solo=Solo.AGAINST), 1, (), known=_dice(40) | {"start"}
    ),
}
"""Every game, with every option that decides what is drawn, or what of it is never seen."""
NOW_MS = 1_800_000_000_000
PAGE = 2
_COMMON = Deck(sha256(b"the draws that are known").digest())


class Forked:
    """A stream whose shuffles begin as they always do, and continue as the deck has it."""

    def __init__(self, deck: Stream, game: Game) -> None:
        self._deck = deck
        self._game = game

    def permutation(self, label: str, n: int) -> list[int]:
        kept = _COMMON.permutation(label, n)[: self._game.kept.get(label, 0)]
        return kept + [x for x in self._deck.permutation(label, n) if x not in kept]

    def uniform(self, label: str, n: int) -> int:
        return (_COMMON if label in self._game.known else self._deck).uniform(label, n)


_HIDDEN: Mapping[str, Callable[[Any], object]] = {
    "alhambra": lambda dealer: (dealer._tiles, dealer._money),
    "kingdomino": lambda dealer: dealer._dominoes,
    "rollwrite": lambda dealer: [dealer._stream.uniform(f"dice/{number}/blue", 6) for number in range(99)],
}


def lies_in(course: LoggedGame) -> int:
    """Return a number that stands for all future draws, 0 while they are unknown to all: a leak would show it."""
    dealer: Any = course.deal.dealer
    return 0 if dealer is None else crc32(repr(_HIDDEN[course.opened.rules_id](dealer)).encode())


class ForkedGame:
    """A registered game, dealt from a forked deck."""

    def __init__(self, game: Any, played: Game) -> None:
        self._game = game
        self._played = played

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def dealer(self, seats: int, options: Any, components: Any, stream: Stream) -> Dealer:
        dealer: Dealer = self._game.dealer(seats, options, components, Forked(stream, self._played))
        return dealer


class ForkedServer(Server):
    """A referee with forked decks, and a clock that stands still."""

    def __init__(self, config: Config, data: Data) -> None:
        super().__init__(config, data)
        self.live_games.context = replace(self.live_games.context, time=VirtualTime(NOW_MS))

    def deal(self, game: Game) -> None:
        """Deal this game from now on."""
        rules = lambda name, version: ForkedGame(games.get(name, version), game)  # noqa: E731
        engines = Engines(rules, codecs.codec, certificates.provable)
        self.live_games.context = replace(self.live_games.context, engines=engines)


@dataclass(frozen=True)
class Heard:
    """The data that one audience was sent."""

    audience: str
    what: str
    data: bytes
    size: int = 0
    """The size of the data in bytes; it is set when names have taken the place of some of it."""

    def __str__(self) -> str:
        return f"{self.what} to {self.audience}"


class Unequal(AssertionError):
    """The games show a difference that must still be secret."""


class Told(AssertionError):
    """A secret was sent."""


def forms(secret: bytes) -> Iterator[tuple[str, bytes]]:
    """The secret as it may stand in text or in bytes."""
    yield "as it is", secret
    yield "in hex", secret.hex().encode()
    yield "in upper-case hex", secret.hex().upper().encode()
    for skipped in range(3):  # wherever it begins inside of what was encoded: the digits that only it decides
        whole = secret[skipped:][: (len(secret) - skipped) // 3 * 3]
        yield "in base64", b64encode(whole)
        yield "in URL-safe base64", urlsafe_b64encode(whole)


@dataclass
class Listener:
    """An open stream."""

    audience: str
    what: str
    call: Any
    message: type[Message]
    author: Author | None

    async def read(self) -> tuple[Heard, Any]:
        data = await self.call.read()
        assert isinstance(data, bytes), (self.what, data)
        return Heard(self.audience, self.what, data), self.message.FromString(data)


@dataclass
class Twin:
    """One of the two games, and what was heard of it since the last comparison."""

    server: Server
    channel: Any
    log: StringIO
    game: Game
    heard: list[Heard] = field(default_factory=list)
    audiences: dict[str, str] = field(default_factory=dict)
    """The tokens by audience."""
    listeners: list[Listener] = field(default_factory=list)
    signatures: list[bytes] = field(default_factory=list)
    secrets: dict[str, bytes] = field(default_factory=dict)
    played: Play = field(init=False)
    reasons: set[str] = field(default_factory=set)
    """The reasons of all errors until now."""
    _said: int = 0
    _tree: Tree = field(default_factory=Tree)
    _heads: list[tuple[str, bytes]] = field(default_factory=list)

    @property
    def player(self) -> str:
        """A seat that plays on its stream alone; of a game for one, its seat."""
        return f"seat {self.game.unscribed[-1]}"

    @property
    def helper(self) -> str:
        """The audience that asks the solver."""
        return "scribe" if self.game.scribed else self.player

    # --- calls -------------------------------------------------------------------------------------------------

    async def call(self, audience: str, method: str, request: Message | bytes) -> bytes:
        """A unary call: answer, status, metadata, all of it is heard."""
        data = request if isinstance(request, bytes) else request.SerializeToString()
        call = self.channel.unary_unary(f"/referee.v1.{method}")(data, metadata=bearer_of(self.audiences[audience]))
        answer = b""
        with suppress(grpc.aio.AioRpcError):
            answer = await call
        await self._hear(audience, method, [answer], call)
        return answer

    async def read_all(self, audience: str, method: str, request: Message | bytes, most: int) -> None:
        """Make a call with a stream of answers, up to ``most``, or to its end."""
        data = request if isinstance(request, bytes) else request.SerializeToString()
        metadata = bearer_of(self.audiences[audience])
        if method.endswith("/PlayGame"):
            call: Any = self.channel.stream_stream(f"/referee.v1.{method}")(metadata=metadata)
            await call.write(data)
        else:
            call = self.channel.unary_stream(f"/referee.v1.{method}")(data, metadata=metadata)
        answers: list[bytes] = []
        with suppress(grpc.aio.AioRpcError):
            while len(answers) < most and isinstance(answer := await call.read(), bytes):
                answers.append(answer)
        if len(answers) == most:
            call.cancel()
            await self._quiet()
        await self._hear(audience, method, answers, call if len(answers) < most else None)

    async def _quiet(self) -> None:
        """Wait until the referee has seen who left: until then its numbers depend on the moment."""
        wanted = Counter(listener.what.partition("/")[2] for listener in self.listeners)
        watchers = wanted["WatchGame"] + 1  # the players' own
        while True:
            request = status_service_pb2.GetStatusRequest()
            metadata = bearer(self.audiences["organiser"])
            data = await self.channel.unary_unary("/referee.v1.StatusService/GetStatus")(
                request.SerializeToString(), metadata=metadata
            )
            status = status_service_pb2.GetStatusResponse.FromString(data).server
            if (status.watchers, status.players) == (watchers, wanted["PlayGame"]):
                return

    async def _hear(self, audience: str, method: str, answers: list[bytes], call: Any) -> None:
        if method.endswith("/GetLog"):
            answers = [_without_crc(answer) for answer in answers]
        if method.endswith("/GetStatus"):
            answers = [_without_times(answer) for answer in answers]
        self.heard.extend(Heard(audience, method, answer) for answer in answers)
        if call is not None:
            pairs = [*await call.initial_metadata(), *(await call.trailing_metadata() or ())]
            lines = [f"{key}: ".encode() + (v if isinstance(v, bytes) else v.encode()) for key, v in pairs]
            for detail in status_pb2.Status.FromString(dict(pairs).get("grpc-status-details-bin", b"")).details:
                self.reasons.add(error_details_pb2.ErrorInfo.FromString(detail.value).reason)
            status = f"{await call.code()} {await call.details()}".encode()
            self.heard.append(Heard(audience, f"{method}, its status", b"\n".join([status, *lines])))

    async def listen(self, audience: str, what: str, request: Message, author: Author | None = None) -> None:
        """Open a stream that stays open."""
        method, message = {
            "WatchGame": ("unary_stream", pb.WatchGameResponse),
            "WatchSeat": ("unary_stream", pb.WatchSeatResponse),
            "PlayGame": ("stream_stream", pb.PlayGameResponse),
        }[what]
        opened = getattr(self.channel, method)(f"/referee.v1.GameService/{what}")
        data, metadata = request.SerializeToString(), bearer_of(self.audiences[audience])
        if method == "stream_stream":
            call = opened(metadata=metadata)
            await call.write(data)
        else:
            call = opened(data, metadata=metadata)
        self.listeners.append(Listener(audience, f"GameService/{what}", call, message, author))

    # --- the game ----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """A dealt game, with a scribe where a seat has one; and everybody listens."""
        organiser = self.server.data.token_path.read_text().strip()
        self.audiences = {"nobody": "", "organiser": organiser}
        game = self.game
        request = pb.CreateGameRequest(
            rules_id=game.rules_id,
            seats=[log_pb2.Seat(scribed=seat in game.scribed) for seat in range(game.seats)],
            options=game.encoded,
            scribe_keys=[SCRIBE.public.raw] if game.scribed else [],
        )
        created = pb.CreateGameResponse.FromString(await self.call("organiser", "GameService/CreateGame", request))
        self.played = Play(Client(self.channel, organiser), created, random.Random(1))
        self.audiences |= {f"seat {seat}": created.seat_tokens[seat] for seat in game.unscribed}
        if game.scribed:
            self.audiences["scribe"] = created.scribe_token
        self.secrets = {f"token of {name}": t.encode() for name, t in self.audiences.items() if t}
        r = await self.server.live_games.context.store.secret(bytes.fromhex(self.played.id))
        assert r is not None
        game_id = bytes.fromhex(self.played.id)
        self.secrets["r"] = r
        self.secrets["K"] = deck_key(r, game_id, [seat_seed(seat) for seat in game.unscribed])
        self.secrets |= {f"p_{seat}": seat_seed(seat) for seat in game.unscribed}
        await self.played.catch_up(1)
        watch, enter = pb.WatchGameRequest(game_id=self.played.id), pb.Enter(game_id=self.played.id, legal_moves=True)
        await self.listen("organiser", "WatchGame", watch)
        watch.after_seq = enter.after_seq = -1
        await self.listen("nobody", "WatchGame", watch)
        await self.listen("seat 0", "PlayGame", pb.PlayGameRequest(enter=enter), Author(Role.SEAT, 0))
        enter.ClearField("after_seq")
        for seat in game.unscribed[1:]:
            await self.listen(f"seat {seat}", "PlayGame", pb.PlayGameRequest(enter=enter), Author(Role.SEAT, seat))
        if game.scribed:
            await self.listen("scribe", "PlayGame", pb.PlayGameRequest(enter=enter), Author(Role.SCRIBE, 0))
        for seat in game.unscribed:
            await self.listen(f"seat {seat}", "WatchSeat", pb.WatchSeatRequest(), Author(Role.SEAT, seat))
        await self._listeners_catch_up()

    async def act(self) -> list[bytes]:
        """Make the next act, seat 0's on its stream; return the chance that followed."""
        act = self.played.next_act()
        assert act is not None
        signed, token = act
        self.signatures.append(signed.signature)
        before = len(self.played.entries)
        audience = next(name for name, other in self.audiences.items() if other == token)
        if audience == "seat 0":
            message = pb.PlayGameRequest(act=pb.SignedAct(intent=signed.intent, signature=signed.signature, id=before))
            listener = next(each for each in self.listeners if each.author == Author(Role.SEAT, 0))
            await listener.call.write(message.SerializeToString())
            await self.played.catch_up(before + 1)
        else:
            request = pb.SubmitIntentRequest(game_id=self.played.id, intent=signed.intent, signature=signed.signature)
            answer = await self.call(audience, "GameService/SubmitIntent", request)
            await self.played.catch_up(pb.SubmitIntentResponse.FromString(answer).accepted.size)
        await self._listeners_catch_up()
        entries = [decode_entry(data) for data in self.played.entries[before:]]
        for entry in entries:
            if entry.HasField("signed") and (intent := log_pb2.Intent.FromString(entry.signed.intent)).HasField(
                "reveal"
            ):
                del self.secrets[f"p_{intent.seat}"]
        return [entry.chance.outcome for entry in entries if entry.HasField("chance")]

    async def _listeners_catch_up(self) -> None:
        size = self.played.record.size
        for listener in self.listeners:
            due = listener.author is not None and awaited(self.played.record, listener.author) is not None
            seq = -1
            while seq < size - 1 or due:
                heard, message = await listener.read()
                self.heard.append(heard)
                update = getattr(message, "update", message)
                seq = max(seq, update.seq)
                due = due and not (message.HasField("turn") and message.turn.size == size)

    # --- what can be known -------------------------------------------------------------------------------------

    def made_from_c_r(self) -> list[tuple[str, bytes]]:
        """Return every value that differs by its definition, by name: of each exactly the bytes that it has to be."""
        game_id, opened = self.played.id, log_pb2.GameOpen.FromString(self.played.created.game.open)
        found = [
            ("game id in hex", game_id.encode()),
            ("game id", bytes.fromhex(game_id)),
            ("C_r", referee_commitment(self.secrets["r"])),
            ("nonce", opened.nonce),
        ]
        for name, token in self.audiences.items():
            if name not in {"nobody", "organiser"}:
                found.append((f"token of {name}", token.encode()))
                found.append((f"id of the token of {name}", token_digest(token).hex()[:16].encode()))
        identity = bytes.fromhex(game_id)
        found += [(f"C_{seat}", seat_commitment(identity, seat, seat_seed(seat))) for seat in self.game.unscribed]
        found += [(f"signature {number}", signature) for number, signature in enumerate(self.signatures)]
        for data in self.played.entries[self._tree.size :]:
            self._heads += self._made_from_head(leaf_hash(data))
        return found + self._heads

    def _made_from_head(self, head: bytes) -> Iterator[tuple[str, bytes]]:
        tree, game_id = self._tree, self.played.id
        tree.append(head)
        yield f"checkpoint {tree.size}", self.server.data.signer.sign(bytes.fromhex(game_id), tree.size, tree.root())
        yield f"head {tree.size}", head
        yield f"head {tree.size} in hex", head.hex().encode()
        yield f"root {tree.size} in hex", tree.root().hex().encode()
        token = urlsafe_b64encode(f"moves/{game_id}/{tree.size}:{PAGE}".encode())
        yield f"page token of {tree.size}", token

    def told(self) -> list[Heard]:
        """Return what was heard since, with a name for every value that differs by its definition. Raises ``Told``."""
        heard, self.heard = [*self.heard, *self._logged()], []
        hidden = [(f"{name} {how}", form) for name, secret in self.secrets.items() for how, form in forms(secret)]
        names = sorted(self.made_from_c_r(), key=lambda pair: -len(pair[1]))
        masked: dict[bytes, bytes] = {}  # most is sent to many
        for each in heard:
            if each.data in masked:
                continue
            for name, form in hidden:
                if form in each.data and not (name.startswith("token ") and each.what == "GameService/CreateGame"):
                    raise Told(f"{each}: {name}")
            data = each.data
            for name, value in names:
                data = data.replace(value, f"<{name}>".encode())
            masked[each.data] = data
        return [replace(each, data=masked[each.data], size=len(each.data)) for each in heard]

    def _logged(self) -> Iterator[Heard]:
        for line in self.log.getvalue()[self._said :].splitlines():
            event = json.loads(line)
            del event["timestamp"]
            if event["event"] == "serving":
                del event["address"], event["metrics"]
            yield Heard("the operator", "the log", json.dumps(event).encode())
        self._said = len(self.log.getvalue())


def bearer_of(token: str) -> tuple[tuple[str, str], ...]:
    return bearer(token) if token else ()


def logging_to(stream: StringIO) -> None:
    """Where the referee writes that is asked next. It has to be said before one is started, too."""
    logs.configure("json", "debug", stream)


def compare(one: list[Heard], other: list[Heard]) -> None:
    """Raise ``Unequal`` at the first message that differs."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a.data, b.data, strict=False)) if x != y), 0)
            near = slice(max(0, at - 60), at + 60)
            raise Unequal(f"{a} / {b}, at byte {at}:\n{a.data[near]!r}\n{b.data[near]!r}")
    if len(one) != len(other):
        raise Unequal(f"{len(one)} messages and {len(other)}; after {one[min(len(one), len(other)) - 1]}")


def _without_crc(answer: bytes) -> bytes:
    """Frames without what is computed from them, once it is found to be just that."""
    data = pb.GetLogResponse.FromString(answer).chunk
    at, parts = 10, [data[:10]]
    assert data.startswith(b"\x89TLR"), "one chunk is enough for a game so short"
    while at < len(data):
        end = at + 5 + int.from_bytes(data[at : at + 4], "big")
        frame, crc = data[at:end], data[end : end + 4]
        assert crc32(frame).to_bytes(4, "big") == crc
        parts.append(frame)
        at = end + 4
    return b"".join(parts)


def _without_times(answer: bytes) -> bytes:
    """How long the disk took."""
    status = status_service_pb2.GetStatusResponse.FromString(answer)
    status.server.ClearField("commit_median_us")
    status.server.ClearField("commit_p99_us")
    return status.SerializeToString()


def _copy(path: Path, like: Path) -> None:
    path.mkdir(mode=0o700)
    for name in ("referee.pem", "organiser.token"):
        shutil.copy(like / name, path / name)


async def start(path: Path, game: Game, like: Path | None = None) -> ForkedServer:
    """Return a referee; with the key and the organiser's token of the one in ``like``."""
    if like is not None:
        await asyncio.to_thread(_copy, path, like)
    config = Config(
        path, store=place(path), metrics="127.0.0.1:0", heartbeat_s=3600, requests_per_s=1e9, max_streams=10_000
    )
    server = await ForkedServer.start(config)
    assert isinstance(server, ForkedServer)
    server.deal(game)
    return server
