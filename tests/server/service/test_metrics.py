"""Metrics: what is counted is what was done, as the log and the clients know it."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from io import StringIO
from pathlib import Path

import grpc
import pytest

from referee import __version__
from referee.log.entry import decode_entry
from referee.server.service.counters import Commits, Distribution
from referee.v1 import game_service_pb2 as pb
from tests.cli import inside
from tests.cli.command import referee
from tests.server.service.conftest import running
from tests.server.service.engines import Engine
from tests.server.service.metrics import http, scrape
from tests.server.service.player import against_the_rules, bearer, connected, refused, token_of
from tests.server.service.streams import Stream, play_seat, rest
from tests.small_disk import small_disk
from tests.waiting import until


async def test_a_game_on_streams_is_counted(tmp_path: Path) -> None:
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, client):
        before = await scrape(server.metrics_address)
        play = await client.play(2)
        first, second = await asyncio.gather(*(play_seat(play, seat) for seat in range(2)))
        after = await scrape(server.metrics_address)
    assert first == second
    assert before.of("referee_build_info", __version__) == 1
    assert before.of("referee_acts_total", "stream", "accepted") == 0
    assert before.of("referee_streams_ended_total", "WatchGame", "too_slow") == 0
    signed = sum(decode_entry(data).HasField("signed") for data in first)
    assert after.of("referee_acts_total", "stream", "accepted") == signed
    assert after.of("referee_act_seconds_count", "stream") == signed
    assert after.of("referee_act_seconds_sum", "stream") > 0
    assert after.of("referee_entries_total") == len(first) == after.of("referee_commit_entries_sum")
    assert after.of("referee_commit_seconds_count") == after.of("referee_commit_entries_count") > 0
    assert after.of("referee_commit_failures_total") == after.of("referee_waiting_changes") == 0
    assert after.of("referee_commit_seconds_sum") > 0
    assert (after.of("referee_games_closed_total", "aborted"), after.sum("referee_games_closed_total")) == (0, 1)
    assert after.of("referee_streams_ended_total", "PlayGame", "game_over") == 2
    assert after.of("process_resident_memory_bytes") > 0
    assert after.of("referee_threads") > 1


async def test_acts_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, client):
        play = await client.play(2)
        await play.until_play()
        seat, sent = play.seat_on_turn(), len(play.sent)
        illegal = play.move(seat, against_the_rules(play))
        assert (await play.submit(illegal, token_of(play, seat))).refused.violations
        for request, token, response in play.sent[:2]:
            again = await client.games.SubmitIntent(request, metadata=bearer(token))
            assert again.accepted == response.accepted
        wrong = play.move(seat, b"\xff")
        assert (await refused(play.submit(wrong, token_of(play, seat)))).reason == "MALFORMED_MOVE"
        assert (await refused(play.submit(wrong, token_of(play, 1 - seat)))).reason == "PERMISSION_DENIED"
        found = await scrape(server.metrics_address)
    assert found.of("referee_acts_total", "unary", "accepted") == sent == 4
    assert found.of("referee_acts_total", "unary", "refused") == 1
    assert found.of("referee_acts_total", "unary", "repeated") == 2
    assert found.of("referee_acts_total", "unary", "failed", "MALFORMED_MOVE") == 1
    assert found.of("referee_acts_total", "unary", "failed", "PERMISSION_DENIED") == 1
    assert found.of("referee_call_errors_total", "SubmitIntent", "MALFORMED_MOVE") == 1
    assert found.of("referee_calls_served_total", "SubmitIntent") == sent + 1 + 2, "the rules refused one, as an answer"
    assert found.of("referee_calls_served_total", "CreateGame") == 1
    assert found.of("referee_calls_served_total", "WatchGame") == 1, "a stream counts when it begins"
    assert found.of("referee_acts_under_way") == 0
    assert found.of("referee_act_seconds_count", "unary") == sent
    assert found.of("referee_kept", "callers") == 3, "two seats and the organiser"


async def test_what_is_open_is_counted_until_it_ends(tmp_path: Path) -> None:
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, client):
        play = await client.play(2)
        await play.until_play()
        watching = Stream(play, token_of(play, 0))
        await watching.begin()
        during = await scrape(server.metrics_address)
        await client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(client.organiser))
        while not (await watching.read()).HasField("closing"):
            pass
        assert await watching.call.code() is grpc.StatusCode.OK
        await play.catch_up(play.record.size + 2)
        assert (await rest(play.stream))[-1].HasField("closing")
        after = await scrape(server.metrics_address)
    assert (during.of("referee_open_games", "playing"), during.of("referee_open_games", "joining")) == (1, 0)
    assert during.of("referee_open_streams", "WatchGame") == during.of("referee_open_streams", "PlayGame") == 1
    assert (after.of("referee_games_closed_total", "aborted"), after.sum("referee_games_closed_total")) == (1, 1)
    assert after.of("referee_streams_ended_total", "PlayGame", "game_over") == 1
    assert after.sum("referee_open_streams") == after.sum("referee_open_games") == 0
    assert after.of("referee_kept", "games_over") == 1
    assert after.of("referee_tasks") < during.of("referee_tasks"), "the streams have ended"


async def test_commits_that_wait_are_counted_with_the_time_of_the_oldest(tmp_path: Path, engine: Engine) -> None:
    async with running(tmp_path / "data", metrics="127.0.0.1:0", busy_s=600.0) as (server, client):
        play = await client.play()
        await play.until_play()
        seat = play.seat_on_turn()
        before = await scrape(server.metrics_address)
        with engine.held():
            act = asyncio.create_task(play.submit(play.move(seat, play.a_move()), token_of(play, seat)))
            await until(lambda: server.data.store.stuck_s > 0, "a commit under way")
            during = await scrape(server.metrics_address)
            later = await scrape(server.metrics_address)
        await act
        after = await scrape(server.metrics_address)
    for found in (before, after):
        assert found.of("referee_waiting_changes") == found.of("referee_waiting_seconds") == 0
    assert during.of("referee_waiting_changes") == later.of("referee_waiting_changes") == 1
    assert 0 < during.of("referee_waiting_seconds") < later.of("referee_waiting_seconds")
    assert during.of("referee_stuck_seconds") > 0


async def test_metrics_end_with_the_referee(tmp_path: Path) -> None:
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, _):
        assert not await asyncio.to_thread(closed_to, server.metrics_address)
    assert await asyncio.to_thread(closed_to, server.metrics_address)


def closed_to(address: str) -> bool:
    host, _, port = address.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) != 0


async def test_who_does_not_keep_up_is_counted(tmp_path: Path) -> None:
    async with running(tmp_path / "data", queue_items=16, metrics="127.0.0.1:0") as (server, client):
        narrow = {"grpc.http2.lookahead_bytes": 1024, "grpc.http2.bdp_probe": 0, "grpc.use_local_subchannel_pool": 1}
        async with connected(server.address, client.organiser, **narrow) as slow:
            play = await client.play(6)
            stream = slow.games.WatchGame(pb.WatchGameRequest(game_id=play.id, after_seq=-1))
            await stream.read()
            await play.to_the_end()
            assert (await rest(stream))[-1].closing.reason == pb.CLOSING_REASON_TOO_SLOW
        assert (await scrape(server.metrics_address)).of("referee_streams_ended_total", "WatchGame", "too_slow") == 1


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET / HTTP/1.1", "404 Not Found"),
        (b"POST /metrics HTTP/1.1", "405 Method Not Allowed"),
        (b"GET /metrics", "400 Bad Request"),
        (b"\x16\x03\x01", "400 Bad Request"),
        (b"GET /metrics?name=x HTTP/1.0", "200 OK"),
    ],
)
async def test_what_else_is_asked(tmp_path: Path, request_line: bytes, status: str) -> None:
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, _):
        found, _ = await http(server.metrics_address, request_line + b"\r\n\r\n")
        assert found == f"HTTP/1.1 {status}"


async def test_a_request_without_end_is_not_listened_to(tmp_path: Path) -> None:
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, _):
        assert await http(server.metrics_address, b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 4000) == ("", b"")
        await scrape(server.metrics_address)


async def test_the_disk_and_the_clock(tmp_path: Path, logged: StringIO) -> None:
    with small_disk(tmp_path / "disk", 16 << 20) as disk:
        async with running(disk.path / "data", metrics="127.0.0.1:0", marks=tmp_path / "marks.db") as (server, client):
            play = await client.play()
            found = await scrape(server.metrics_address)
            assert found.of("referee_disk_free_bytes", "data") == disk.free_bytes
            assert found.of("referee_disk_free_bytes", "marks") > 0
            assert found.of("referee_reserve_in_use", "data") == found.of("referee_reserve_in_use", "marks") == 0
            assert abs(found.of("referee_clock_ahead_seconds")) < 1
            disk.fill()
            await until(lambda: '"disk full"' in logged.getvalue(), "that the operator is told")
            await play.until_play()
            found = await scrape(server.metrics_address)
            assert found.of("referee_disk_free_bytes", "data") == 0
            assert found.of("referee_reserve_in_use", "data") == 1
            assert found.of("referee_reserve_in_use", "marks") == 0
            disk.empty()
            await until(lambda: '"disk has space again"' in logged.getvalue(), "that the operator is told")
            assert logged.getvalue().count('"disk full"') == 1


async def test_nobody_is_named(tmp_path: Path) -> None:
    """Metrics are open to all who reach them."""
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, client):
        play = await client.play(2, principals=["ani.x", ""])
        _, body = await http(server.metrics_address, b"GET /metrics HTTP/1.1\r\n\r\n")
        for word in ("ani.x", play.id, client.organiser, *filter(None, play.created.seat_tokens)):
            assert word.encode() not in body


def test_a_value_on_a_bound_lies_below_it() -> None:
    values = Distribution((1, 2, 5))
    for value in (0.5, 1, 2, 2.5, 9):
        values.add(value)
    assert values.buckets() == [("1.0", 2), ("2.0", 3), ("5.0", 4), ("+Inf", 5)]
    assert values.total == 15


async def test_every_metric_and_every_event_is_documented(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    page = (root / "docs" / "operate" / "reference.md").read_text()
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, _):
        _, body = await http(server.metrics_address, b"GET /metrics HTTP/1.1\r\n\r\n")
    found = set(re.findall(r"^# TYPE (referee_\w+)", body.decode(), re.MULTILINE))
    assert found == set(re.findall(r"^\| `(referee_\w+)`", page, re.MULTILINE))
    source = "".join(path.read_text() for path in (root / "referee").rglob("*.py"))
    events = set(re.findall(r"_?log\.(?:debug|info|warning|error)\(\s*\"([^\"]+)\"", source))
    rows = {
        name
        for row in re.findall(r"^\| (`[^|]+`) \| (?:debug|info|warning|error) ", page, re.MULTILINE)
        for name in row.strip("`").split("`, `")
    }
    assert events == rows


def test_slow_commits_are_told(logged: StringIO) -> None:
    commits = Commits(slow_s=0.5)
    commits.done(0.4, 1, 1, None)
    commits.done(0.6, 2, 5, None)
    (line,) = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert (line["event"], line["level"]) == ("slow commit", "warning")
    assert (line["seconds"], line["games"], line["rows"]) == (0.6, 2, 5)
    assert commits.lately_us() == (600_000, 600_000)
    assert commits.entries == 6


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("0.0.0.0:0", "--metrics 0.0.0.0:0: not a loopback address; expected one, or --insecure"),
        ("nowhere", "--metrics 'nowhere': expected HOST:PORT, such as 127.0.0.1:50051"),
    ],
)
def test_where_metrics_cannot_be(place: str, message: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    done = inside.referee("serve", "--data", data, "--listen", "127.0.0.1:0", "--metrics", place)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"referee: {message}\n")
    assert not data.exists()


def test_metrics_cannot_be_where_somebody_listens(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        in_use = f"127.0.0.1:{taken.getsockname()[1]}"
        done = referee("serve", "--data", data, "--listen", "127.0.0.1:0", "--metrics", in_use)
    expected = "expected another port, or that this program is stopped"
    message = f"cannot listen on {in_use}: another program listens there; {expected}"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"referee: {message}\n")
    assert not data.exists()
