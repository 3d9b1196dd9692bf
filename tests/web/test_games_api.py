"""Public reads, through a gateway to a real referee: real games, real sockets."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from referee.log import file
from referee.log.entry import decode_entry
from referee.log.note import VerifierKey, open_checkpoint
from referee.log.v1 import log_pb2
from referee.server.service.server import Server
from referee.v1 import game_service_pb2 as pb
from referee.v1 import status_service_pb2, status_service_pb2_grpc
from referee_clients.web import limits
from referee_clients.web.hub import HubLimits
from tests.clients.referee_process import Referee
from tests.frozen.report import HERE
from tests.server.service.conftest import running
from tests.server.service.player import Client, bearer, connected
from tests.waiting import until, waiting_for
from tests.web.games_api import NOBODYS, kingdomino
from tests.web.gateway import Gateway, check_refusal, gateway


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Server, Client]]:
    async with running(tmp_path / "data") as both:
        yield both


async def watching(client: Client) -> int:
    """How many streams of WatchGame the referee has; the player's own is one of them."""
    stub: Any = status_service_pb2_grpc.StatusServiceStub(client.channel)
    status = await stub.GetStatus(status_service_pb2.GetStatusRequest(), metadata=bearer(client.organiser))
    return int(status.server.watchers)


def split(data: bytes) -> list[bytes]:
    """Positions, each after its length."""
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        found.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    assert at == len(data)
    return found


def digests(entries: list[bytes]) -> list[bytes]:
    return [decode_entry(entry).state_digest for entry in entries]


# --- what there is -----------------------------------------------------------------------------------------


async def test_games_are_listed_page_by_page_and_by_state(served: tuple[Server, Client]) -> None:
    server, client = served
    for _ in range(52):
        await client.create()
    play = await kingdomino(client)
    async with gateway(server.address) as web:
        first = (await web.get("/games")).json()
        assert (len(first["games"]), first["games"][0]["id"]) == (50, play.id)
        second = (await web.get(f"/games?page={first['next_page']}")).json()
        assert (len(second["games"]), second["next_page"]) == (3, "")
        assert len({game["id"] for game in first["games"] + second["games"]}) == 53
        playing = (await web.get("/games?state=playing")).json()["games"]
        assert [game["id"] for game in playing] == [play.id]
        metadata = await web.refused(f"/games?state=playing&page={first['next_page']}", 400, "INVALID_ARGUMENT")
        assert metadata["field"] == "page"


async def test_a_game_has_its_seats_clocks_and_result(served: tuple[Server, Client]) -> None:
    server, client = served
    terms = log_pb2.Terms(clock=log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=3_600_000)), table_rules=1)
    play = await kingdomino(client, 2, terms=terms)
    async with gateway(server.address) as web:
        game = (await web.get(f"/games/{play.id}")).json()
        assert (game["id"], game["state"], game["size"]) == (play.id, "PLAYING", play.record.size)
        assert game["head"] == play.record.head.hex()
        assert [seat["joined"] for seat in game["seats"]] == [True, True]
        assert [clock["running"] for clock in game["clocks"]].count(True) == 1
        assert game["result"] is None
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        game = (await web.get(f"/games/{play.id}")).json()
        assert (game["state"], game["result"]["ending"]) == ("OVER", "ABORTED")


async def test_rules_and_key_are_told(served: tuple[Server, Client]) -> None:
    server, client = served
    created = await client.create()
    async with gateway(server.address, created.verifier_key) as web:
        rules = (await web.get("/rules/alhambra")).json()["rules"]
        assert {"ALH-A2"} <= {rule["id"] for rule in rules}
        assert all(rule["text"] and rule["citation"] for rule in rules)
        assert (await web.get("/key")).json() == {"verifier_key": created.verifier_key}
        await web.refused("/rules/chess", 404, "UNKNOWN_RULES")
        await web.refused("/rules/alhambra?version=99", 404, "UNKNOWN_RULES")
    async with gateway(server.address) as web:
        await web.refused("/key", 404, "NO_KEY")


async def test_log_and_positions_are_exact_before_and_after_the_end(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client, 5)
    async with gateway(server.address, play.created.verifier_key) as web:
        answer = await web.get(f"/games/{play.id}/log")
        assert answer.content == await client.log(play.id)
        assert (answer.headers["cache-control"], "etag" in answer.headers) == ("no-store", False)
        answer = await web.get(f"/games/{play.id}/positions")
        assert [sha256(position).digest() for position in split(answer.content)] == digests(play.entries)
        assert answer.headers["cache-control"] == "no-store"
        await play.to_the_end()

        answer = await web.get(f"/games/{play.id}/log")
        assert answer.content == await client.log(play.id)
        assert list(file.entries(BytesIO(answer.content))) == play.entries
        assert "immutable" in answer.headers["cache-control"]
        again = await web.get(f"/games/{play.id}/log", **{"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")

        answer = await web.get(f"/games/{play.id}/positions?from=0")
        positions = split(answer.content)
        assert [sha256(position).digest() for position in positions] == digests(play.entries)
        assert answer.headers["content-encoding"] == "gzip"
        later = await web.get(
            f"/games/{play.id}/positions?from={len(positions) - 2}", **{"Accept-Encoding": "identity"}
        )
        assert split(later.content) == positions[-2:]
        assert split((await web.get(f"/games/{play.id}/positions?from={len(positions)}")).content) == []
        again = await web.get(f"/games/{play.id}/positions?from=0", **{"If-None-Match": answer.headers["etag"]})
        assert again.status_code == 304


async def test_the_file_of_a_game_with_certificates_is_not_kept_for_ever(served: tuple[Server, Client]) -> None:
    """They may be added after the end."""
    server, client = served
    play = await client.play(terms=log_pb2.Terms(proofs=log_pb2.PROOF_POLICY_ALL, table_rules=1))
    await play.catch_up(1)
    await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
    async with gateway(server.address) as web:
        answer = await web.get(f"/games/{play.id}/log")
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")


# --- what happens ------------------------------------------------------------------------------------------


async def test_two_watchers_get_every_commit_and_cost_one_stream(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client, 3)
    async with (
        gateway(server.address, play.created.verifier_key) as web,
        web.live(f"{play.id}:-1") as one,
        web.live(f"{play.id}:{len(play.entries) - 1}") as other,
    ):
        known = len(play.entries)
        await one.until(play.id, known)
        assert one.entries[play.id] == play.entries
        assert (web.referee.hub.upstreams, web.referee.hub.streams) == (1, 2)
        assert await watching(client) == 2
        while await play.step():
            pass
        for events in (one, other):
            _, closing = await events.next("closing")
            assert closing == {"game": play.id, "seq": len(play.entries) - 1, "reason": "GAME_OVER"}
            with pytest.raises(EOFError):
                await events.next("commit")
        assert one.entries[play.id] == play.entries
        assert other.entries[play.id] == play.entries[known:]
        assert web.referee.hub.upstreams == 0


async def test_each_commit_comes_with_the_checkpoint_over_it(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client, 4)
    verifier = VerifierKey.parse(play.created.verifier_key)
    async with gateway(server.address) as web, web.live(f"{play.id}:-1") as events:
        seq = -1
        while seq < len(play.entries) - 1:
            _, data = await events.next("commit")
            seq = data["seq"]
            assert open_checkpoint(b64decode(data["checkpoint"]), verifier).size == seq + 1


async def test_a_stream_goes_on_after_any_entry_also_within_a_commit(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client, 4)
    async with gateway(server.address) as web:
        for after in range(-1, len(play.entries) - 1):
            async with web.live(f"{play.id}:{after}") as events:
                await events.until(play.id, len(play.entries))
                assert events.entries[play.id] == play.entries[after + 1 :]
        assert web.referee.hub.upstreams == 1


async def test_one_stream_has_many_games(served: tuple[Server, Client]) -> None:
    server, client = served
    plays = [await kingdomino(client, 1) for _ in range(3)]
    async with gateway(server.address) as web, web.live(*(f"{play.id}:-1" for play in plays)) as events:
        for play in plays:
            await play.steps(2)
        for play in plays:
            await events.until(play.id, len(play.entries))
            assert events.entries[play.id] == play.entries


async def test_clocks_are_told_with_the_head_they_are_about(served: tuple[Server, Client]) -> None:
    server, client = served
    terms = log_pb2.Terms(clock=log_pb2.ClockTerms(per_move=log_pb2.PerMove(move_ms=3_600_000)), table_rules=1)
    play = await kingdomino(client, 2, terms=terms)
    async with gateway(server.address) as web, web.live(f"{play.id}:-1") as events:
        _, clock = await events.next("clock")
        assert (clock["game"], clock["seq"]) == (play.id, len(play.entries) - 1)
        assert [seat["running"] for seat in clock["clocks"]].count(True) == 1
        game = (await web.get(f"/games/{play.id}")).json()
        assert clock["clocks"] == game["clocks"]


@pytest.mark.parametrize("heartbeat_s", [10.0, 0.01])
async def test_a_silent_stream_has_comments(tmp_path: Path, heartbeat_s: float) -> None:
    """Even if the referee has heartbeats more often: they say nothing of a game without a clock."""
    limits = HubLimits(comment_s=0.3)
    async with (
        running(tmp_path / "data", heartbeat_s=heartbeat_s) as (server, client),
        gateway(server.address, hub=limits) as web,
        web.browser.stream("GET", f"/api/v1/live?g={(await kingdomino(client)).id}:-1") as response,
        waiting_for("comments"),
    ):
        comments = 0
        async for line in response.aiter_lines():
            comments += line.startswith(":")
            if comments == 3:
                break


async def test_a_game_is_let_go_a_little_after_the_last_watcher(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client)
    async with gateway(server.address, hub=HubLimits(linger_s=0.1)) as web:
        async with web.live(f"{play.id}:-1") as events:
            await events.until(play.id, len(play.entries))
            assert await watching(client) == 2
        await until(lambda: web.referee.hub.upstreams == 0, "the gateway lets go", every_s=0.05)
        async with waiting_for("the referee knows"):
            while await watching(client) > 1:
                pass
        assert web.limits.streams == 0


async def test_who_does_not_take_anything_is_dropped_and_others_get_everything(served: tuple[Server, Client]) -> None:
    """The hub alone, so that it is certain that nothing is taken; its way out is cut in the middle of sending."""
    server, client = served
    play = await kingdomino(client, 1)
    async with gateway(server.address, hub=HubLimits(queue_bytes=8_000)) as web, web.live(f"{play.id}:-1") as good:
        hub = web.referee.hub
        with ExitStack() as stack:
            feed = await hub.hold(stack, play.id)
            await hub.read(feed)
            stuck = asyncio.Event()

            async def never(chunk: bytes) -> None:
                if b"commit" in chunk:
                    await stuck.wait()

            watcher = stack.enter_context(hub.watcher([(feed, feed.size - 1)]))
            running_ = asyncio.create_task(watcher.run(never))
            await play.to_the_end()
            async with waiting_for("the end of the one that takes nothing"):
                await running_
            assert watcher.is_dropped
        await good.next("closing")
        assert good.entries[play.id] == play.entries
        assert hub.dropped == 1


async def test_a_long_history_is_no_falling_behind(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client, 20)
    async with (
        gateway(server.address, hub=HubLimits(queue_bytes=4_000)) as web,
        web.live(f"{play.id}:-1") as events,
    ):
        await events.until(play.id, len(play.entries))
        assert sum(map(len, events.entries[play.id])) > 4_000
        assert web.referee.hub.dropped == 0


@asynccontextmanager
async def deaf(web: Gateway, path: str) -> AsyncIterator[None]:
    """Yield a socket that asks, and never reads."""
    with socket.socket() as asking:
        asking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        asking.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(asking, ("127.0.0.1", web.port))
        await loop.sock_sendall(asking, f"GET /api/v1{path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        yield


@pytest.mark.parametrize("stall_s", [0.5, 120])
async def test_a_socket_that_is_never_read_is_cut_off(
    served: tuple[Server, Client], stall_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The socket takes nothing of the past, or falls behind the present."""
    monkeypatch.setattr(limits, "SEND_BYTES", 2048)
    server, client = served
    play = await client.play()
    await play.until_play()
    await play.steps(40)
    game = f"{play.id}:-1" if stall_s < 1 else f"{play.id}:{len(play.entries) - 1}"
    feed_limits = HubLimits(queue_bytes=20_000 if stall_s > 1 else 1 << 30)
    async with gateway(server.address, hub=feed_limits, stall_s=stall_s) as web, web.live(f"{play.id}:-1") as good:
        connections = web.server.server_state.connections
        async with deaf(web, f"/live?g={game}"):
            await until(lambda: web.limits.streams == 2, "the stream", every_s=0.01)
            assert len(connections) == 2
            playing = asyncio.create_task(play.to_the_end())
            await until(lambda: web.limits.streams == 1, "it is cut off", every_s=0.05)
            await until(lambda: len(connections) == 1, "its connection is gone", every_s=0.05)
            await good.next("closing")
            await playing
        assert good.entries[play.id] == play.entries
        assert web.referee.hub.dropped == (stall_s > 1)


async def test_a_connection_without_a_request_is_ended(
    served: tuple[Server, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "REQUEST_S", 0.1)
    async with gateway(served[0].address) as web:
        assert (await web.get("/key")).status_code == 404
        reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
        writer.write(b"GET /api/v1/key HTTP/1.1\r\nHost:")
        async with waiting_for("the end of the connection"):
            with suppress(ConnectionError):
                assert await reader.read() == b""
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        await asyncio.sleep(0.2)
        assert (await web.get("/key")).status_code == 404


async def test_streams_are_told_that_the_gateway_stops(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client)
    async with gateway(server.address) as web, web.live(f"{play.id}:-1") as events:
        await events.until(play.id, len(play.entries))
        await web.referee.close()
        _, closing = await events.next("closing")
        assert (closing["reason"], closing["seq"]) == ("DRAINING", len(play.entries) - 1)
        with pytest.raises(EOFError):
            await events.next("commit")


async def test_a_game_that_another_key_signed_is_not_shown(served: tuple[Server, Client]) -> None:
    """The gateway was given the key of another referee."""
    server, client = served
    play = await kingdomino(client)
    other = (HERE / "referee.vkey").read_text().strip()
    async with gateway(server.address, other) as web:
        async with web.live(f"{play.id}:-1") as events:
            _, closing = await events.next("commit", "closing")
            assert (closing.get("reason"), closing["seq"]) == ("UNREADABLE", -1)
        await web.refused(f"/games/{play.id}/positions", 503, "UNAVAILABLE")


async def test_what_is_kept_is_bounded(served: tuple[Server, Client]) -> None:
    server, client = served
    plays = [await kingdomino(client) for _ in range(2)]
    async with gateway(server.address, hub=HubLimits(most_games=1, kept_bytes=1)) as web:
        hub = web.referee.hub
        async with web.live(f"{plays[0].id}:-1"):
            assert await web.refused(f"/live?g={plays[1].id}:-1", 429, "LIMIT") == {"limit": "games that are watched"}
        await until(lambda: hub.streams == 0, "nobody watches", every_s=0.01)
        # The first one has no watcher any more: it makes room before its time.
        async with web.live(f"{plays[1].id}:-1") as events:
            await plays[1].to_the_end()
            await events.next("closing")
            assert hub.bytes > 1000
        await until(lambda: hub.bytes == 0, "it is forgotten", every_s=0.01)
        # And can be had again.
        answer = await web.get(f"/games/{plays[1].id}/positions")
        assert [sha256(position).digest() for position in split(answer.content)] == digests(plays[1].entries)


async def test_a_stream_goes_on_when_the_referee_was_killed(tmp_path: Path) -> None:
    referee = Referee(tmp_path / "data")
    await asyncio.to_thread(referee.start)
    try:
        async with connected(referee.address, referee.token) as client:
            play = await kingdomino(client, 2)
            before = len(play.entries)
            async with (
                gateway(referee.address, play.created.verifier_key) as web,
                web.live(f"{play.id}:-1") as events,
            ):
                await events.until(play.id, before)
                await asyncio.to_thread(referee.stop)
                await until_refused(web, f"/games/{play.id}")
                for path in ("/games", f"/games/{play.id}/log", "/rules/alhambra", f"/live?g={NOBODYS}:-1"):
                    await web.refused(path, 503, "UNAVAILABLE")
                # A kept copy is enough.
                assert (await web.get(f"/games/{play.id}/positions")).status_code == 200
                await asyncio.to_thread(referee.start)
                play.stream = None
                async with connected(referee.address, referee.token) as play.client:
                    await play.steps(3)
                    await events.until(play.id, len(play.entries))
                    assert events.entries[play.id] == play.entries
                    # Calls have a connection of their own, which may be back a little later.
                    async with waiting_for("calls are answered again"):
                        while (answer := await web.get(f"/games/{play.id}")).status_code == 503:  # noqa: ASYNC110 - no signal
                            await asyncio.sleep(float(answer.headers["retry-after"]) / 10)
                    assert answer.json()["size"] == len(play.entries)
    finally:
        await asyncio.to_thread(referee.stop)


async def until_refused(web: Gateway, path: str) -> None:
    async with waiting_for("the gateway knows"):
        while (answer := await web.get(path)).status_code == 200:  # noqa: ASYNC110 - no signal
            await asyncio.sleep(0.05)
    check_refusal(answer, 503, "UNAVAILABLE")


# --- what is refused ---------------------------------------------------------------------------------------


@pytest.fixture
async def web(served: tuple[Server, Client]) -> AsyncIterator[Gateway]:
    async with gateway(served[0].address) as web:
        yield web


@pytest.mark.parametrize("path", [f"/games/{NOBODYS}{rest}" for rest in ("", "/log", "/positions")])
async def test_an_unknown_game_is_not_found(web: Gateway, path: str) -> None:
    await web.refused(path, 404, "UNKNOWN_GAME")
    await web.refused(f"/live?g={NOBODYS}:-1", 404, "UNKNOWN_GAME")


BAD = (
    *(
        (f"/games/{game_id}{rest}", "id")
        for game_id in ("0", "0" * 31, "0" * 33, "G" * 32, "A" * 32, "0" * 32 + "%0A", "%00", "é" * 32)
        for rest in ("", "/log", "/positions")
    ),
    ("/games?state=lost", "state"),
    ("/games?state=UNSPECIFIED", "state"),
    ("/games?page=nonsense", "page"),
    ("/games?page=%F0%9F%92%A9", "page"),
    (f"/games?page={'a' * 2000}", "page"),
    *((f"/games/{NOBODYS}/positions?from={first}", "from") for first in ("-1", "x", "1.5", "", "01", "9" * 19, "٣")),
    *((f"/live?g={NOBODYS}:{after}", "after") for after in ("-2", "x", "", "-01", "9" * 30, "1e3")),
    ("/live", "g"),
    ("/live?g=", "g"),
    (f"/live?g={NOBODYS}", "g"),
    (f"/live?g={NOBODYS}:-1&g={NOBODYS}:-1", "g"),
    (f"/live?g={NOBODYS}:-1,{NOBODYS}:-1", "g"),
    ("/live?g=" + ",".join(f"{number:032x}:-1" for number in range(13)), "g"),
    ("/live?g=nobody:-1", "id"),
    ("/rules/%20", "id"),
    ("/rules/" + "a" * 65, "id"),
    ("/rules/alhambra?version=-1", "version"),
    ("/rules/alhambra?version=99999999999", "version"),
)
"""Addresses, each with the part that is wrong."""


async def test_bad_input_is_refused_with_its_field(web: Gateway) -> None:
    for path, field in BAD:
        metadata = await web.refused(path, 400, "INVALID_ARGUMENT")
        assert metadata["field"] == field, path
        assert metadata["expected"], path


async def test_no_address_makes_a_fault(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client)
    rng = random.Random(1)
    pieces = [play.id, NOBODYS, "games", "live", "rules", "key", "log", "positions", "alhambra", "from", "g", "page"]
    pieces += [
        "state",
        "version",
        "-1",
        "0",
        "7",
        "9" * 18,
        "%ff",
        "%00",
        "%E2%82%AC",
        "..",
        ":",
        ",",
        "&",
        "=",
        "+",
        "%",
    ]
    starts = ["/games", f"/games/{play.id}", f"/games/{play.id}/positions", "/live", "/rules/alhambra", "/key", ""]
    async with gateway(server.address) as web:
        for _ in range(300):
            path = rng.choice(starts) + rng.choice("/?:") + "".join(rng.choices(pieces, k=rng.randrange(6)))
            async with web.browser.stream("GET", f"/api/v1{path}") as answer:
                assert answer.status_code < 500, path
                if answer.status_code >= 400:
                    await answer.aread()
                    assert set(answer.json()) == {"reason", "message", "metadata"}, path


async def test_nothing_is_beyond_the_head(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client)
    size = len(play.entries)
    async with gateway(server.address) as web:
        for path in (
            f"/live?g={play.id}:{size}",
            f"/games/{play.id}/positions?from={size + 1}",
            f"/games/{play.id}/positions?from=0&size={size + 1}",
            f"/live?g={play.id}:9999",
        ):
            metadata = await web.refused(path, 416, "SEQ_OUT_OF_RANGE")
            assert metadata == {"game": play.id, "size": str(size)}
        async with web.live(f"{play.id}:{size - 1}"):
            await web.refused(f"/live?g={play.id}:{size}", 416, "SEQ_OUT_OF_RANGE")
            await play.steps(1)
            # The referee is asked before anything is refused: the game may have grown.
            async with web.live(f"{play.id}:{size}"):
                pass


async def test_what_is_not_there_is_refused_in_the_same_form(web: Gateway) -> None:
    await web.refused("/nothing", 404, "NOT_FOUND")
    check_refusal(await web.browser.post("/api/v1/games"), 405, "METHOD_NOT_ALLOWED")
    assert (await web.browser.head("/api/v1/games")).status_code == 200


async def test_more_than_the_limit_is_refused(served: tuple[Server, Client]) -> None:
    server, client = served
    play = await kingdomino(client)
    async with gateway(server.address, requests_per_s=20, streams_each=2, now=lambda: 1000.0) as web:
        async with web.live(f"{play.id}:-1"), web.live(f"{play.id}:-1"):
            metadata = await web.refused(f"/live?g={play.id}:-1", 429, "LIMIT")
            assert metadata == {"limit": "streams from this address"}
        answers = [await web.get("/key") for _ in range(200)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert check_refusal(refused[0], 429, "LIMIT") == {"limit": "requests"}
        # Behind the trusted proxy there are others.
        assert (await web.get("/key", **{"X-Forwarded-For": "198.51.100.7"})).status_code == 404


async def test_a_fault_of_the_gateway_has_a_reason_too(web: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(web.referee, "games", fail)
    metadata = check_refusal(await web.get("/games"), 500, "INTERNAL")
    assert metadata["incident"]
