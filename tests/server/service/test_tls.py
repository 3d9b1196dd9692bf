"""TLS and client certificates: admitted callers, their names, and refused files."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import grpc
import pytest

from referee.server.service.tls import Certificates, Tls, TlsError
from referee.v1 import access_service_pb2 as access
from referee.v1 import access_service_pb2_grpc
from referee.v1 import game_service_pb2 as pb
from referee_clients import play_async
from referee_clients.bot_check.relay import Way
from referee_clients.bots import load
from referee_clients.join import Join, parse_join
from referee_clients.sdk.channel import Insecure, Security, check, open_channel
from referee_clients.sdk.errors import Denied
from referee_clients.sdk.organiser import organiser
from tests.cli.inside import referee
from tests.rig.network import ByteFault, Mishap, Network
from tests.server.service.certificates import DAY, Authority, Pair
from tests.server.service.conftest import running
from tests.server.service.metrics import scrape
from tests.server.service.player import Client, bearer, refused
from tests.server.service.process import serve
from tests.waiting import until


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@asynccontextmanager
async def over(address: str, token: str, security: Security) -> AsyncIterator[Client]:
    async with open_channel(f"grpcs://{address}", token, security) as channel:
        yield Client(channel, token)


def shown(tmp_path: Path, authority: Authority, *, client_ca: Path | None = None) -> Certificates:
    pair = authority.issue("referee")
    return Certificates(Tls(pair.certificate, pair.key, client_ca))


async def test_bots_play_over_tls(tmp_path: Path, authority: Authority) -> None:
    trusting = Security(ca=authority.path)
    async with running(tmp_path / "data", certificates=shown(tmp_path, authority)) as (server, _):
        address, token = f"grpcs://{server.address}", server.data.token_path.read_text().strip()
        async with organiser(address, token, trusting) as organising:
            opened = await organising.open_game("kingdomino", 2)
        joins = [parse_join(f"{address}/{j.game_id}/{j.seat}#{j.token}") for j in opened.joins]
        assert joins == list(opened.joins), "the join string says that TLS is needed"
        results = await asyncio.gather(*(play_async(join, load("random", seed=1), security=trusting) for join in joins))
        assert results[0].entries == results[1].entries
        assert results[0].ending == "RULES"


async def test_a_referee_that_is_far_away_is_reached(tmp_path: Path, authority: Authority) -> None:
    """Every answer takes a third of a second, and a handshake several of them."""
    async with (
        running(tmp_path / "data", certificates=shown(tmp_path, authority)) as (server, _),
        Network(server.address, lambda _: Mishap(ByteFault.DELAY, Way.DOWN)) as far,
        over(far, "", Security(ca=authority.path)) as client,
    ):
        assert not (await client.games.ListGames(pb.ListGamesRequest())).games


class TheDayBefore(datetime):
    """A clock that is slow."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> TheDayBefore:
        return cls.fromtimestamp(datetime.now(tz).timestamp() - DAY.total_seconds(), tz)


async def test_a_certificate_that_expired_while_it_was_shown(
    tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients name it, and the day if all else is right; the operator sees it."""
    valid, pair = authority.issue("valid"), authority.issue("old", -2 * DAY, -DAY / 2)
    with monkeypatch.context() as patch:
        patch.setattr("referee.server.service.tls.datetime", TheDayBefore)
        certificates = Certificates(Tls(pair.certificate, pair.key))
    trusting, stranger = Security(ca=authority.path), Security(ca=Authority(tmp_path, "other").path)
    async with running(tmp_path / "data", certificates=certificates, metrics="127.0.0.1:0") as (server, _):
        address = f"grpcs://{server.address}"
        assert -1 < (await scrape(server.metrics_address)).of("referee_certificate_days_left") < 0
        join = parse_join(f"{address}/{'0' * 32}/0#{'x' * 43}")
        with pytest.raises(Denied) as denied:
            await play_async(join, load("random", seed=1), security=trusting)
        day = f"{certificates.expires:%Y-%m-%d}"
        assert str(denied.value) == f"the referee's certificate expired on {day}; the organiser has to renew it"
        told = await asyncio.to_thread(referee, "games", "--server", address, "--tls-ca", authority.path)
        assert "the referee's certificate has expired; the organiser has to renew it" in told.stderr
        assert await asyncio.to_thread(stranger.expired_on, address) is None, "anybody can make a day"
    shown_ = Certificates(Tls(valid.certificate, valid.key))
    async with running(tmp_path / "valid", certificates=shown_) as (server, _):
        assert await asyncio.to_thread(trusting.expired_on, f"grpcs://{server.address}") is None


async def test_whoever_is_not_vouched_for_gets_no_token(tmp_path: Path, authority: Authority) -> None:
    """Neither a referee that the client does not trust, nor one that speaks no TLS at all."""
    other = Authority(tmp_path, "other")
    async with (
        running(tmp_path / "tls", certificates=shown(tmp_path, authority)) as (secure, _),
        running(tmp_path / "plain") as (plain, _),
    ):
        for address in (secure.address, plain.address):
            async with over(address, "x" * 43, Security(ca=other.path)) as client:
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await client.create()
                assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        distrusting = Security(ca=other.path)
        join = parse_join(f"grpcs://{secure.address}/{'0' * 32}/0#{'x' * 43}")
        with pytest.raises(Denied, match="no trusted authority signed"):  # and not Unreachable, much later
            await play_async(join, load("random", seed=1), security=distrusting)
        trust = ("--server", f"grpcs://{secure.address}", "--tls-ca", other.path)
        (tmp_path / "token").write_text("x" * 43)
        for words in (("fetch", "0" * 32), ("status", "--once", "--token-file", tmp_path / "token")):
            done = await asyncio.to_thread(referee, *words, *trust)
            expected = "no trusted authority signed its certificate; expected --tls-ca FILE"
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr == f"referee: grpcs://{secure.address}: {expected}\n"


@dataclass
class Office:
    """A referee that admits clients with certificates, asked by the organiser with that of ani."""

    address: str
    client: Client
    clients: Authority
    ani: Pair
    security: Callable[[Pair], Security]

    async def issue(self) -> access.IssueTokenResponse:
        request = access.IssueTokenRequest(principal="ani", scopes=[access.SCOPE_PLAY], certificate=self.ani.der)
        stub: Any = access_service_pb2_grpc.AccessServiceStub(self.client.channel)
        issued: access.IssueTokenResponse = await stub.IssueToken(request, metadata=bearer(self.client.organiser))
        return issued

    async def revoke(self, token: access.Token) -> None:
        stub: Any = access_service_pb2_grpc.AccessServiceStub(self.client.channel)
        await stub.RevokeToken(access.RevokeTokenRequest(id=token.id), metadata=bearer(self.client.organiser))


@pytest.fixture
async def office(tmp_path: Path, authority: Authority) -> AsyncIterator[Office]:
    clients = Authority(tmp_path, "clients")
    ani = clients.issue("ani")

    def secured(pair: Pair) -> Security:
        return Security(authority.path, pair.certificate, pair.key)

    certificates = shown(tmp_path, authority, client_ca=clients.path)
    async with running(tmp_path / "data", certificates=certificates) as (server, _):
        token = server.data.token_path.read_text().strip()
        async with over(server.address, token, secured(ani)) as client:
            yield Office(server.address, client, clients, ani, secured)


async def test_a_certificate_is_admitted_once(office: Office, authority: Authority) -> None:
    """Before that it is unknown, as every other one is after that; without any there is no connection."""
    found = await refused(office.client.games.ListGames(pb.ListGamesRequest()))
    assert (found.reason, found.message) == ("UNAUTHENTICATED", "unknown certificate")
    issued = await office.issue()
    assert (issued.secret, issued.token.certificate) == ("", True)
    assert (await refused(office.issue())).metadata["field"] == "certificate"
    async with (
        over(office.address, "", office.security(office.clients.issue("stranger"))) as unknown,
        over(office.address, "", Security(authority.path)) as bare,
    ):
        assert (await refused(unknown.games.ListGames(pb.ListGamesRequest()))).reason == "UNAUTHENTICATED"
        with pytest.raises(grpc.aio.AioRpcError):
            await bare.games.ListGames(pb.ListGamesRequest())


async def test_a_certificate_plays_and_a_token_beside_one_counts_instead_of_it(office: Office) -> None:
    await office.issue()
    play = await office.client.play(2, rules_id="kingdomino", principals=["ani", ""])
    mine = Join(f"grpcs://{office.address}", play.id, 0, "")
    other = Join(f"grpcs://{office.address}", play.id, 1, play.created.seat_tokens[1])
    results = await asyncio.gather(
        play_async(mine, load("random", seed=1), security=office.security(office.ani)),
        play_async(other, load("random", seed=2), security=office.security(office.clients.issue("stranger"))),
    )
    assert results[0].entries == results[1].entries


async def test_a_certificate_that_is_revoked_ends_its_streams(office: Office) -> None:
    issued = await office.issue()
    game_id = (await office.client.create()).game.id
    stream = office.client.games.WatchGame(pb.WatchGameRequest(game_id=game_id))
    assert (await stream.read()).HasField("snapshot")
    await office.revoke(issued.token)
    assert (await stream.read()).closing.reason == pb.CLOSING_REASON_REVOKED
    found = await refused(office.client.games.ListGames(pb.ListGamesRequest()))
    assert (found.reason, found.message) == ("UNAUTHENTICATED", "the certificate was revoked")


async def test_a_certificate_is_no_token(tmp_path: Path) -> None:
    """All knowledge of a certificate is public: its digest admits no caller, nor does a token's."""
    ani = Authority(tmp_path).issue("ani")
    async with running(tmp_path / "data") as (_, client):
        admitting = access_service_pb2_grpc.AccessServiceStub(client.channel)
        request = access.IssueTokenRequest(principal="ani", scopes=[access.SCOPE_ADMIN], certificate=ani.der)
        await admitting.IssueToken(request, metadata=bearer(client.organiser))
        for secret in (ani.der.hex()[:190], ssl.DER_cert_to_PEM_cert(ani.der).splitlines()[1]):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await admitting.ListTokens(access.ListTokensRequest(), metadata=bearer(secret))
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def peer_of(address: str) -> bytes:
    """Return the certificate that is shown there."""
    host, _, port = address.removeprefix("grpcs://").rpartition(":")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    return bytes(found)


async def test_serve_reads_its_certificate_again(tmp_path: Path, authority: Authority) -> None:
    """On SIGHUP; what is broken changes nothing."""
    pair = authority.issue("referee")
    words = ("--tls-cert", str(pair.certificate), "--tls-key", str(pair.key))
    running_ = await serve(tmp_path / "data", tmp_path / "log", *words)
    assert running_.address.startswith("grpcs://127.0.0.1:")
    assert await peer_of(running_.address) == pair.der
    assert "certificate expires soon" in (tmp_path / "log").read_text(), "it has a day"
    where = ("--server", running_.address, "--data", tmp_path / "data")
    new = await asyncio.to_thread(referee, "new", *where, "--tls-ca", authority.path)
    assert (new.returncode, new.stderr.count("\n")) == (0, 1), "a warning of the address"
    assert parse_join(new.stdout.splitlines()[2].removeprefix("seat 0: ")).address == running_.address

    other = Authority(tmp_path, "other")
    done = await asyncio.to_thread(referee, "new", *where, "--tls-ca", other.path)
    expected = "no trusted authority signed its certificate; expected --tls-ca FILE"
    assert (done.returncode, done.stderr) == (1, f"referee: {running_.address}: {expected}\n")

    bare = running_.address.removeprefix("grpcs://")
    in_clear = await asyncio.to_thread(referee, "status", "--server", bare, "--data", tmp_path / "data")
    assert "expected grpcs://HOST:PORT if it speaks TLS" in in_clear.stderr

    renewed = authority.issue("referee")
    await hang_up(running_.process.pid, tmp_path / "log", "certificates reloaded")
    assert await peer_of(running_.address) == renewed.der != pair.der
    renewed.key.write_text("nonsense")
    await hang_up(running_.process.pid, tmp_path / "log", "expected a private key in PEM")
    assert await peer_of(running_.address) == renewed.der
    running_.process.terminate()
    assert await running_.process.wait() == 0


async def hang_up(pid: int, log: Path, said: str) -> None:
    """Return when the log says so."""
    os.kill(pid, signal.SIGHUP)
    await until(lambda: said in log.read_text(), f"{said!r} in the log", every_s=0.01)


def test_files_that_are_refused(tmp_path: Path, authority: Authority) -> None:
    good, other = authority.issue("good"), authority.issue("other")
    old, early = authority.issue("old", -2 * DAY, -DAY), authority.issue("early", DAY, 2 * DAY)
    empty = tmp_path / "empty"
    empty.write_text("")
    cases = [
        (Tls(tmp_path / "none", good.key), f"{tmp_path / 'none'}: No such file or directory"),
        (Tls(good.certificate, tmp_path / "none"), f"{tmp_path / 'none'}: No such file or directory"),
        (Tls(empty, good.key), f"{empty}: expected certificates in PEM"),
        (Tls(good.key, good.key), f"{good.key}: expected certificates in PEM"),
        (Tls(good.certificate, empty), f"{empty}: expected a private key in PEM"),
        (
            Tls(good.certificate, other.key),
            f"{other.key}: not the key of the certificate in {good.certificate}",
        ),
        (Tls(old.certificate, old.key), f"{old.certificate}: the certificate expired on "),
        (Tls(early.certificate, early.key), f"{early.certificate}: the certificate is not valid before "),
        (Tls(good.certificate, good.key, empty), f"{empty}: expected certificates in PEM"),
        (Tls(good.certificate, good.key, old.certificate), f"{old.certificate}: the certificate expired on "),
    ]
    for tls, message in cases:
        with pytest.raises(TlsError) as failed:
            Certificates(tls)
        assert str(failed.value).startswith(message)
        assert "\n" not in str(failed.value)


def test_serve_refuses_files_in_one_line(tmp_path: Path, authority: Authority) -> None:
    good = authority.issue("good")
    for words, code, message in (
        (("--tls-cert", good.certificate, "--tls-key", tmp_path / "none"), 1, f"{tmp_path}/none: No such file or "),
        (("--tls-cert", good.certificate), 2, "TLS: expected both --tls-cert and --tls-key"),
        (("--tls-client-ca", good.certificate), 2, "TLS: expected both --tls-cert and --tls-key"),
    ):
        done = referee("serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0", *words)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.startswith(f"referee: {message}")
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "data").exists()


def test_no_token_goes_in_clear_to_another_machine(tmp_path: Path, authority: Authority) -> None:
    good = authority.issue("good")
    plain = Security()
    for address in ("127.0.0.1:1", "localhost:1", "[::1]:1", "127.9.9.9:1"):
        check(address, plain, "token")
    check("referee.example:1", plain)
    check("referee.example:1", Security(insecure=True), "token")
    check("grpcs://referee.example:1", plain, "token")
    for address in ("referee.example:1", "192.0.2.1:1", "localhost.example:1", "[2001:db8::1]:1"):
        with pytest.raises(Insecure, match="a token must not be sent there without TLS"):
            check(address, plain, "token")
        with pytest.raises(Insecure, match="a client certificate must not be sent"):
            check(address, Security(ca=authority.path))
    for security, message in (
        (Security(ca=tmp_path / "none"), "none: No such file or directory"),
        (Security(ca=good.key), "good.key: expected certificates in PEM"),
        (Security(None, good.certificate), "both a client certificate and its key"),
        (Security(None, good.certificate, authority.issue("other").key), "of the key"),
        (Security(None, good.certificate, tmp_path / "none"), "none: No such file or directory"),
    ):
        with pytest.raises(Insecure, match=message):
            check("grpcs://referee.example:1", security)


def test_commands_refuse_to_give_a_token_away(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x" * 43)
    done = referee("new", "--server", "referee.example:1", "--token-file", tmp_path / "token")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "referee: referee.example:1: a token must not be sent there without TLS; expected grpcs://referee.example:1, "
        "or --insecure\n"
    )
    done = referee("bot", "random", "--join", f"referee.example:1/{'0' * 32}/0#{'x' * 43}")
    assert done.returncode == 1
    assert "a token must not be sent there without TLS" in done.stderr
