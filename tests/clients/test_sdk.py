"""A seat plays against a real referee, whatever happens to the way between them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import Any

import grpc
import pytest

from referee.alhambra.v1.alhambra_pb2 import Options
from referee.log.audit import audit
from referee.log.keys import PrivateKey
from referee.log.note import CheckpointSigner, VerifierKey
from referee.log.verdict import Policy, Verdict
from referee.server.service.watch_stream import MOST_PLAYING
from referee.server.store.store import StoreFailed
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from referee_clients import (
    BadMove,
    ClientError,
    Denied,
    Distrust,
    GameResult,
    Join,
    Unreachable,
    play,
    play_all,
    play_async,
)
from referee_clients.bots import load, maker
from referee_clients.sdk.connection import Connection
from referee_clients.sdk.errors import Answer, denied
from referee_clients.sdk.ledger import Ledger
from referee_clients.sdk.organiser import Opened, organiser
from tests.clients.bots import Stopped, StopsAt
from tests.clients.referee_process import Referee
from tests.rig.network import Network, cutting
from tests.server.service.access import Office
from tests.server.service.conftest import running
from tests.server.service.player import connected, token_of
from tests.server.service.streams import Stream
from tests.sizes import campaign
from tests.waiting import waiting_for

SEATS = 3


async def open_game(referee: Referee, seats: int = SEATS) -> Opened:
    async with organiser(referee.address, referee.token) as organising:
        return await organising.open_game("alhambra", seats)


async def check_log(referee: Referee, opened: Opened, results: Sequence[GameResult], folder: Path) -> None:
    """Every seat saw the same whole game, which the auditor finds complete and in line with every receipt."""
    async with organiser(referee.address, referee.token) as organising:
        await organising.save_log(opened.game_id, folder / "game")
    receipts = tuple(receipt for result in results for receipt in result.receipts)
    report = audit(
        BytesIO((folder / "game").read_bytes()), Policy(VerifierKey.parse(opened.verifier), receipts=receipts)
    )
    assert report.verdict is Verdict.COMPLETE, report.as_text()
    assert {result.entries for result in results} == {results[0].entries}
    assert all(entry in (folder / "game").read_bytes() for entry in results[0].entries)
    assert [result.ending for result in results] == ["RULES"] * len(results)


async def test_a_whole_game(referee: Referee, tmp_path: Path) -> None:
    opened = await open_game(referee)
    results = await asyncio.gather(
        *(
            play_async(join, load(name, seed=1), verifier=opened.verifier)
            for join, name in zip(opened.joins, ("random", "greedy", "planner"), strict=True)
        )
    )
    await check_log(referee, opened, results, tmp_path)
    assert results[0].scores == results[1].scores


@pytest.mark.parametrize("cut_after", [15_000, campaign(40_000)])
async def test_a_network_that_cuts_every_connection(referee: Referee, tmp_path: Path, cut_after: int) -> None:
    opened = await open_game(referee)
    network = Network(referee.address, cutting(cut_after))
    async with network as address:
        results = await asyncio.gather(
            *(play_async(replace(join, address=address), load("greedy")) for join in opened.joins)
        )
    assert len(network.suffered) > SEATS
    await check_log(referee, opened, results, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("how", [SIGKILL, campaign(SIGTERM)], ids=lambda how: how.name)
async def test_a_referee_that_is_stopped_and_started_again(tmp_path: Path, how: Signals) -> None:
    referee = Referee(tmp_path / "referee")
    referee.start()
    opened = await open_game(referee)
    at = iter((2, 5, 40, 41, 90))
    stop_at = next(at)

    def restart(ledger: Ledger) -> None:
        nonlocal stop_at
        if ledger.size >= stop_at:
            stop_at = next(at, 1 << 16)
            referee.stop(how)
            referee.start()

    try:
        results = await asyncio.gather(
            play_async(opened.joins[0], load("greedy"), on_commit=restart),
            *(play_async(join, load("greedy")) for join in opened.joins[1:]),
        )
        assert stop_at == 1 << 16
        await check_log(referee, opened, results, tmp_path)
    finally:
        referee.stop()


async def test_who_comes_second_decides_again(referee: Referee, tmp_path: Path) -> None:
    opened = await open_game(referee, 2)
    other_joined = threading.Event()
    results: list[GameResult] = []

    def other_comes_first(ledger: Ledger) -> None:
        if ledger.size == 1:  # our Join is about to be signed for this head
            other.start()
            other_joined.wait()

    def seen(ledger: Ledger) -> None:
        if ledger.size == 2:
            other_joined.set()

    other = threading.Thread(target=lambda: results.append(play(opened.joins[1], load("greedy"), on_commit=seen)))
    results.append(await play_async(opened.joins[0], load("greedy"), on_commit=other_comes_first))
    await asyncio.to_thread(other.join)
    await check_log(referee, opened, results, tmp_path)


async def test_a_bot_with_a_saved_key_comes_back(referee: Referee, tmp_path: Path) -> None:
    opened = await open_game(referee, 2)
    key_file = tmp_path / "seat.pem"
    other = asyncio.create_task(play_async(opened.joins[1], load("greedy")))
    with pytest.raises(Stopped):
        await play_async(opened.joins[0], StopsAt(5), key_file=key_file)
    assert key_file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(Denied, match="player 1 was taken with another key"):
        await play_async(opened.joins[0], load("greedy"))
    with pytest.raises(Stopped):
        await play_async(opened.joins[0], StopsAt(5), key_file=key_file)
    result = await play_async(opened.joins[0], load("greedy"), key_file=key_file)
    await check_log(referee, opened, [result, await other], tmp_path)


class Cheat:
    """Takes the whole money row."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return type(legal_moves[0])(tuple(observation.row))


class Fool:
    """Chooses what is no move."""

    def choose(self, observation: Any, legal_moves: Sequence[Any]) -> Any:
        return "the best"


@pytest.mark.parametrize(("bot", "said"), [(Cheat(), "ALH-C1: Taking money"), (Fool(), "not a move of this game")])
async def test_an_illegal_move_is_not_sent(referee: Referee, bot: Any, said: str) -> None:
    opened = await open_game(referee, 2)
    players = [asyncio.create_task(play_async(join, bot)) for join in opened.joins]
    done, waiting = await asyncio.wait(players, return_when=asyncio.FIRST_COMPLETED)
    with pytest.raises(BadMove, match=said):
        done.pop().result()
    for player in waiting:
        player.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    ledger = Ledger(opened.game_id)
    with pytest.raises(Seen):
        async with Connection(referee.address, opened.game_id) as connection:
            await connection.watch(ledger, _dealt(ledger))
    assert ledger.size == 5 + 5  # opened, joined, revealed; neutral tiles, market, two hands, money


class Seen(Exception):
    """Enough of the game."""


def _dealt(ledger: Ledger) -> Any:
    async def take(_: object) -> None:
        if ledger.size >= 5 + 5:
            raise Seen

    return take


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"token": "A" * 43}, "does not know this token"),
        ({"seat": 1}, "the token is for seat 0"),
        ({"seat": 7}, "seat 7 cannot be taken"),
        ({"game_id": "0" * 32}, "for another game"),
    ],
)
async def test_who_is_not_admitted_is_told_why(referee: Referee, change: dict[str, Any], said: str) -> None:
    opened = await open_game(referee)
    with pytest.raises(Denied, match=said):
        await play_async(replace(opened.joins[0], **change), load("greedy"))


async def test_a_referee_that_is_not_there(referee: Referee) -> None:
    with pytest.raises(Unreachable, match=r"no answer from 127\.0\.0\.1:1 "):
        await play_async(Join("127.0.0.1:1", "0" * 32, 0, "A" * 43), load("greedy"), patience_s=0)


async def test_a_referee_that_signs_with_another_key(referee: Referee) -> None:
    opened = await open_game(referee)
    other = CheckpointSigner("referee.local", PrivateKey.generate()).verifier
    with pytest.raises(Distrust, match="UNTRUSTED_KEY"):
        await play_async(opened.joins[0], load("greedy"), verifier=str(other))


async def test_a_key_file_that_is_none(referee: Referee, tmp_path: Path) -> None:
    opened = await open_game(referee)
    (tmp_path / "key").write_text("secret")
    with pytest.raises(ClientError, match="mode 0600"):
        await play_async(opened.joins[0], load("greedy"), key_file=tmp_path / "key")


@dataclass(frozen=True)
class Watched:
    """A whole game, as watchers got it."""

    opened: Opened
    commits: list[pb.WatchGameResponse]

    def ledger(self, count: int, game_id: str = "") -> Ledger:
        """Return a ledger that has read the first ``count`` commits."""
        ledger = Ledger(game_id or self.opened.game_id, VerifierKey.parse(self.opened.verifier))
        for commit in self.commits[:count]:
            ledger.read(commit)
        return ledger

    def changed(self, index: int, byte: int) -> pb.WatchGameResponse:
        """Return the one after twenty, with another bit in one of its entries."""
        message = pb.WatchGameResponse()
        message.CopyFrom(self.commits[20])
        entry = message.commit.entries[index]
        place = byte % len(entry)
        message.commit.entries[index] = entry[:place] + bytes([entry[place] ^ 1]) + entry[place + 1 :]
        return message


@pytest.fixture
async def watched(referee: Referee) -> Watched:
    opened = await open_game(referee, 2)
    await asyncio.gather(*(play_async(join, load("greedy")) for join in opened.joins))
    commits: list[pb.WatchGameResponse] = []

    async def keep(message: pb.WatchGameResponse) -> None:
        commits.append(message)

    async with Connection(referee.address, opened.game_id) as connection:
        await connection.watch(Ledger(opened.game_id), keep)
    return Watched(opened, commits)


async def test_what_the_ledger_does_not_take(watched: Watched) -> None:
    commits = watched.commits
    with pytest.raises(Distrust, match=f"entry 0 of game {watched.opened.game_id}"):
        watched.ledger(1, "0" * 32)
    ledger = watched.ledger(20)
    size, root = ledger.size, ledger.record.root()
    last = len(commits[20].commit.entries) - 1
    for message, said in (
        (commits[21], "left out entries"),
        (commits[19], "repeated entries"),
        (pb.WatchGameResponse(seq=size, heartbeat=pb.Heartbeat()), "left out entries"),
        *((watched.changed(index, byte), "is not valid") for index in (0, last) for byte in (3, 40, -1)),
        (
            pb.WatchGameResponse(seq=commits[20].seq, commit=pb.Commit(entries=commits[20].commit.entries)),
            "is not valid",
        ),
    ):
        with pytest.raises(Distrust, match=said) as distrust:
            ledger.read(message)
        assert distrust.value.in_doubt, "it may be damage"
        assert (ledger.size, ledger.record.size, ledger.record.root()) == (size, size, root), "nothing of it is taken"
    for commit in commits[20:]:
        ledger.read(commit)
    assert ledger.record.game.end is not None


async def test_two_signed_histories_are_no_damage(referee: Referee) -> None:
    opened = await open_game(referee, 2)
    ledger = Ledger(opened.game_id, VerifierKey.parse(opened.verifier))
    with pytest.raises(Seen):
        async with Connection(referee.address, opened.game_id) as connection:
            await connection.watch(ledger, _seen)
    key = PrivateKey.load(referee.folder / "referee.pem")
    game_id = bytes.fromhex(opened.game_id)
    signer = CheckpointSigner("referee.local", key)
    with pytest.raises(Distrust, match="signed two histories of 1 entries") as distrust:
        ledger.add([], signer.sign(game_id, 1, bytes(32)))
    assert not distrust.value.in_doubt
    # Also if the first of them came with entries that did not hold, and was taken for damaged.
    with pytest.raises(Distrust, match="is not valid") as distrust:
        ledger.add([b"?"], signer.sign(game_id, 2, bytes(32)))
    assert distrust.value.in_doubt
    with pytest.raises(Distrust, match="signed two histories of 2 entries"):
        ledger.add([b"?"], signer.sign(game_id, 2, bytes([1]) * 32))


async def _seen(_: object) -> None:
    raise Seen


@pytest.mark.long
async def test_one_token_plays_every_game_of_its_principal(referee: Referee, tmp_path: Path) -> None:
    """Through a network that cuts, also games of other rules, and one that is opened while others are played."""
    async with connected(referee.address, referee.token) as client:
        token = (await Office(client).issue("bea", access.SCOPE_PLAY)).secret
        games = ("alhambra", "kingdomino")
        created = [await client.create(2, rules_id=game, principals=["bea", ""]) for game in games]
        ended: dict[str, GameResult | Exception] = {}
        is_over = asyncio.Event()

        def on_end(game_id: str, result: GameResult | Exception) -> None:
            ended[game_id] = result
            if len(ended) == 3:
                is_over.set()

        network = Network(referee.address, cutting(20_000))
        async with network as address:
            ani = asyncio.create_task(
                play_all(address, token, maker("greedy"), on_end, key_file=lambda _: tmp_path / "key")
            )
            others = [play_async(_seat(referee, game, 1), maker("greedy")) for game in created]
            results = [await others[0]]
            created.append(await client.create(2, principals=["", "bea"]))
            results += await asyncio.gather(*others[1:], play_async(_seat(referee, created[2], 0), load("greedy")))
            await asyncio.wait((ani, asyncio.create_task(is_over.wait())), return_when=asyncio.FIRST_COMPLETED)
            assert not ani.done()
            ani.cancel()
    for game, result in zip(created, results, strict=True):
        mine = ended[game.game.id]
        assert isinstance(mine, GameResult)
        assert (mine.entries, mine.scores, mine.ending) == (result.entries, result.scores, "RULES")
        assert mine.seat != result.seat
    assert network.suffered


def _seat(referee: Referee, game: pb.CreateGameResponse, seat: int) -> Join:
    return Join(referee.address, game.game.id, seat, game.seat_tokens[seat])


async def test_a_token_that_is_none_plays_nothing(referee: Referee) -> None:
    with pytest.raises(Denied, match="does not know this token"):
        await play_all(referee.address, "A" * 43, maker("greedy"), lambda *_: None)


@pytest.mark.long
async def test_a_store_that_fails_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client sends the same bytes on another stream, though no turn is announced until the table is read back."""
    async with running(tmp_path / "data", heartbeat_s=0.1) as (server, client):
        created = await client.create(2, options=Options(max_turns=6).SerializeToString())
        store, calls = server.data.store, 0
        commit = store.commit

        def flaky(*arguments: Any) -> None:
            nonlocal calls
            calls += 1
            if calls % 4 == 2:
                raise StoreFailed("now and then")
            commit(*arguments)

        monkeypatch.setattr(store, "commit", flaky)
        results = await asyncio.gather(
            *(
                play_async(Join(server.address, created.game.id, seat, token), load("greedy"))
                for seat, token in enumerate(created.seat_tokens)
            )
        )
        assert results[0].entries == results[1].entries
        assert calls > 12, "it did fail"


async def test_an_act_on_a_stream_that_is_over_shows_as_a_broken_connection(tmp_path: Path) -> None:
    """The library calls it an internal error, and forgets the referee's last message; another stream has it."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play()
        await play.catch_up(1)
        ledger, act = Ledger(play.id), play.join(0)
        others = [Stream(play, token_of(play, 0)) for _ in range(MOST_PLAYING)]

        async def take(_: pb.PlayGameResponse) -> None:
            if connection.reconnects:
                raise Seen
            for other in others:  # the seat's oldest stream makes room
                await other.begin()
            async with waiting_for("a write that fails"):
                while not connection._stream.done():
                    await connection.send(act, 0)
            assert await connection._stream.code() is grpc.StatusCode.INTERNAL

        async with Connection(server.address, play.id, token_of(play, 0)) as connection:
            with pytest.raises(Seen):
                await connection.play(ledger, take)
        assert connection.reconnects == 1


@pytest.mark.parametrize("state", ["revoked", "expired"])
def test_a_token_that_was_valid_is_not_taken_for_a_wrong_one(state: str) -> None:
    error = denied(Answer(grpc.StatusCode.UNAUTHENTICATED, "not valid", "UNAUTHENTICATED", {"state": state}))
    assert "ask the organiser" in str(error)
    assert "copied whole" not in str(error)
