"""The real process: killed in the middle of games, stopped by signals, started wrongly; and what it logs."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import grpc
import pytest

from referee.log.intent import SignedIntent
from referee.log.v1 import log_pb2
from referee.v1 import access_service_pb2 as access
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.channel import Security, open_channel
from tests.server.service.access import Office
from tests.server.service.certificates import Authority
from tests.server.service.conftest import of_postgresql
from tests.server.service.engines import Engine
from tests.server.service.player import (
    SCRIBE,
    Client,
    Play,
    against_the_rules,
    bearer,
    connected,
    refused,
    seat_seed,
    token_of,
)
from tests.server.service.process import serve
from tests.server.service.resend import audited, moved, send_all_again
from tests.sizes import campaign


@pytest.mark.parametrize("kills", [2, campaign(4)])
async def test_killed_in_the_middle(kills: int, tmp_path: Path) -> None:
    """kill -9 with acts under way: what was acknowledged is there, what was not is there whole or not at all."""
    data, log = tmp_path / "data", tmp_path / "log"
    plays: list[Play] = []
    under_way: list[tuple[Play, SignedIntent, str]] = []
    for number in range(kills):
        running = await serve(data, log)
        async with connected(running.address, running.token) as client:
            if not plays:
                plays = [await client.play(2, seed=seed) for seed in range(3)]
            for play in plays:
                moved(play, client)
            for play, act, token in under_way:
                # It had become durable or not; if so, its first answer is given now.
                await play.accepted(await play.submit(act, token))
            for play in plays:
                await send_all_again(play)
                await play.steps(5)
            under_way = [(play, *due) for play in plays if (due := play.next_act()) is not None]
            calls = [asyncio.create_task(play.submit(act, token)) for play, act, token in under_way]
            for _ in range(4 * number):  # a little later each time
                await asyncio.sleep(0)
            running.process.kill()
            await asyncio.gather(*calls, return_exceptions=True)
        assert await running.process.wait() == -signal.SIGKILL
    running = await serve(data, log)
    async with connected(running.address, running.token) as client:
        for play in plays:
            moved(play, client)
        for play, act, token in under_way:
            await play.accepted(await play.submit(act, token))
        for play in plays:
            await send_all_again(play)
            await play.to_the_end()
            await audited(play)
    running.process.terminate()
    assert await running.process.wait() == 0


@pytest.mark.long
@of_postgresql
async def test_a_referee_that_hung_ends_when_it_finds_that_another_has_its_games(
    tmp_path: Path, engine: Engine
) -> None:
    """The other one, elsewhere, takes over after the lease; what was acknowledged is there."""
    data, log = tmp_path / "data", tmp_path / "log"
    first = await serve(data, log)
    async with connected(first.address, first.token) as client:
        play = await client.play()
        await play.steps(5)
    shutil.copytree(data, tmp_path / "elsewhere", ignore=shutil.ignore_patterns("lock"))
    first.process.send_signal(signal.SIGSTOP)
    second = await serve(tmp_path / "elsewhere", log)
    async with connected(second.address, second.token) as client:
        moved(play, client)
        await send_all_again(play)
        await play.steps(3)
        first.process.send_signal(signal.SIGCONT)
        assert await first.process.wait() == 3
        assert "another referee has taken over the games; this one has stopped" in log.read_text()
        await play.to_the_end()
        await audited(play)
    second.process.terminate()
    assert await second.process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signals(tmp_path: Path, number: signal.Signals) -> None:
    running = await serve(tmp_path / "data", tmp_path / "log")
    async with connected(running.address, running.token) as client:
        play = await client.play()
        await play.steps(3)
        stream = client.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=play.record.size - 2))
        await stream.read()
        running.process.send_signal(number)
        message = await stream.read()
        assert message.closing.reason == pb.CLOSING_REASON_DRAINING
        assert message.seq == play.record.size - 1
        assert await stream.read() is grpc.aio.EOF
    assert await running.process.wait() == 0
    assert not (tmp_path / "data" / "referee.db-wal").exists(), "all is in the one file"


async def test_no_secret_is_ever_logged(tmp_path: Path, engine: Engine) -> None:
    data, log = tmp_path / "data", tmp_path / "log"
    running = await serve(data, log, "--log-level", "debug")
    secrets = [running.token.encode()]
    async with connected(running.address, running.token) as client:
        recorded = log_pb2.Terms(illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)
        play = await client.play(terms=recorded, scribe_keys=[SCRIBE.public.raw])
        other = await client.play()
        for game in (play, other):
            secrets += [token.encode() for token in (*game.created.seat_tokens, game.created.scribe_token) if token]
        await play.until_play()
        await play.submit(play.move(play.seat_on_turn(), against_the_rules(play)), token_of(play, play.seat_on_turn()))
        wrong = play.move(0, b"")
        for token in (token_of(other, 0), "x" * 43, running.token):
            secrets.append(token.encode())
            with pytest.raises(grpc.aio.AioRpcError):
                await play.submit(wrong, token)
        with pytest.raises(grpc.aio.AioRpcError):
            await client.games.GetGame(pb.GetGameRequest(game_id=other.id), metadata=bearer("y" * 30))
        await other.steps(1)
        found = [row[0] for row in engine.ask("SELECT seed FROM secrets")]
        assert len(found) == 2
        engine.ask("UPDATE entries SET data = ? WHERE game = 2", bytes(1))
        request, token, _ = other.sent[0]
        assert (await refused(client.games.SubmitIntent(request, metadata=bearer(token)))).reason == "SET_ASIDE"
    running.process.terminate()
    assert await running.process.wait() == 0
    found += [seat_seed(0), seat_seed(1)]
    found += [sha256(f"seat {seat}".encode()).digest() for seat in (0, 1)]  # their private keys
    secrets += (data / "referee.pem").read_bytes().splitlines()[1:2]
    text = log.read_bytes()
    for value in found:
        secrets += [value, value.hex().encode(), b64encode(value), urlsafe_b64encode(value), repr(value)[2:-1].encode()]
    secrets += [b"y" * 30, (data / "seal.key").read_bytes().strip()]
    for secret in secrets:
        assert secret not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert {"serving", "game opened", "act", "game set aside", "stopped"} <= {line["event"] for line in lines}
    act = next(line for line in lines if line["event"] == "act")
    assert (act["game"], act["author"], act["seq"]) == (play.id, "seat 0", 1)


async def test_nothing_secret_of_later_tokens_and_certificates_is_logged(tmp_path: Path) -> None:
    """Issued, used where they may and may not be, revoked, used again."""
    data, log = tmp_path / "data", tmp_path / "log"
    authority = Authority(tmp_path)
    pair, clients = authority.issue("referee"), Authority(tmp_path, "clients")
    ani, stranger = clients.issue("ani"), clients.issue("stranger")
    files = ("--tls-cert", pair.certificate, "--tls-key", pair.key, "--tls-client-ca", clients.path)
    running = await serve(data, log, *map(str, files), "--log-level", "debug")
    secrets = [running.token]
    shown, other = (Security(authority.path, found.certificate, found.key) for found in (ani, stranger))
    async with open_channel(running.address, running.token, shown) as channel:
        client, office = Client(channel, running.token), Office(Client(channel, running.token))
        await office.issue("ani", access.SCOPE_PLAY, certificate=ani.der)
        issued = await office.issue("ani", access.SCOPE_PLAY)
        play = await client.play(2, principals=["ani", ""])
        secrets += [issued.secret, play.created.seat_tokens[1]]
        await play.catch_up(1)
        await play.act(play.join(0), issued.secret)
        unknown = f"x{issued.secret}"
        for act, token in ((play.join(1), issued.secret), (play.join(1), unknown)):
            with pytest.raises(grpc.aio.AioRpcError):
                await play.submit(act, token)
        await office.revoke(issued)
        assert (await refused(play.submit(play.join(1), issued.secret))).reason == "UNAUTHENTICATED"
        async with open_channel(running.address, "", other) as unknown_channel:
            asked = Client(unknown_channel, "").games.GetGame(pb.GetGameRequest(game_id=play.id))
            assert (await refused(asked)).message == "unknown certificate"
    running.process.terminate()
    assert await running.process.wait() == 0
    for path in (pair.key, ani.key, stranger.key):
        secrets += [line for line in path.read_text().splitlines() if not line.startswith("-----")]
    text = log.read_text()
    for secret in secrets:
        assert secret not in text
    events = {json.loads(line)["event"] for line in text.splitlines()}
    assert {"token issued", "token revoked", "act"} <= events
