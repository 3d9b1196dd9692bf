"""Games whose terms ask for certificates, on a real server: whole ones, killed ones, and an engine that is wrong."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from referee.games.alhambra.moves import PlaceTile, RebuildAdd, RebuildRemove, RebuildSwap
from referee.log import file
from referee.log.audit import audit
from referee.log.certificates import verdict_of
from referee.log.engines import Engines, installed
from referee.log.entry import decode_entry
from referee.log.file import FrameType as Type
from referee.log.note import VerifierKey
from referee.log.replay import Record
from referee.log.v1 import log_pb2
from referee.log.verdict import Layer, Policy, Report, Verdict
from referee.server.live import prover, restoration
from referee.server.live.context import Context
from referee.server.service import game_service, solver
from referee.server.service import server as serving
from referee.server.service.data import open_data
from referee.server.service.files import STORE_FILE
from referee.server.service.server import Server
from referee.server.store.store import Change, Row, StoreDamaged, StoreFailed
from referee.v1 import game_pb2
from referee.v1 import game_service_pb2 as pb
from referee.wire.certificates.registry import Provable
from tests.log.certificates import LenientGame, slip
from tests.log.proved import an_attempt
from tests.server.service.conftest import running
from tests.server.service.facts import sql_store
from tests.server.service.player import Client, Play, bearer, connected, refused, token_of
from tests.server.service.process import serve
from tests.server.service.resend import moved
from tests.server.service.whole_games import SHORT
from tests.sizes import campaign
from tests.waiting import until, waiting_for

BUILDING = (PlaceTile, RebuildAdd, RebuildRemove, RebuildSwap)
ALL = log_pb2.Terms(proofs=log_pb2.PROOF_POLICY_ALL)
ALL_RECORDED = log_pb2.Terms(proofs=log_pb2.PROOF_POLICY_ALL, illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)
REFUSALS = log_pb2.Terms(proofs=log_pb2.PROOF_POLICY_REFUSALS, illegal_moves=log_pb2.ILLEGAL_MOVE_POLICY_RECORDED)


async def audited(play: Play, engines: Engines | None = None) -> Report:
    return audit(
        BytesIO(await play.client.log(play.id)), Policy(VerifierKey.parse(play.created.verifier_key)), engines=engines
    )


async def all_made(server: Server) -> None:
    """Return when no game that is over lacks a certificate."""
    async with waiting_for("certificates of games that are over"):
        while await server.data.store.awaiting_certificates():  # noqa: ASYNC110 - no signal
            await asyncio.sleep(0.02)


async def proved(play: Play, server: Server) -> Report:
    """Return the report as soon as no certificate is lacking. To audit takes long: only when there is one more."""
    while True:
        settled = server.prover.settled.total()
        report = await audited(play)
        if not report.proofs.lacking:
            return report
        await until(lambda before=settled: server.prover.settled.total() > before, "one more", every_s=0.02)  # type: ignore[misc]


async def abort(play: Play) -> None:
    await play.client.games.AbortGame(pb.AbortGameRequest(game_id=play.id), metadata=bearer(play.client.organiser))


async def attempt(play: Play) -> bool:
    """Have the seat on turn try something; return whether it was refused."""
    state: Any = play.record.game.position.state
    tried = an_attempt(state, play.rng)
    if tried is None or not state.check(tried):
        return False
    seat = play.seat_on_turn()
    data = play.record.game.position.codec.encode_move(tried, play.record.game.position.components)
    response = await play.submit(play.move(seat, data), token_of(play, seat))
    if response.refused.HasField("recorded"):
        await play.catch_up(response.refused.recorded.size)
    return True


async def test_a_game_in_doubt_is_proved_as_far_as_it_goes(tmp_path: Path) -> None:
    """A certificate is of an entry that was signed, and no act."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(2, rules_id="kingdomino", terms=ALL)
        await play.until_play()
        await play.steps(7)
        server.data.store.marks.doubt({play.record.game_id: play.record.last_ms})
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        report = await proved(play, server)
        assert report.proofs.checked
        game = (await client.games.GetGame(pb.GetGameRequest(game_id=play.id))).game
        assert (game.state, game.size) == (game_pb2.GAME_STATE_IN_DOUBT, play.record.size), "nothing is entered"


async def play_with_attempts(play: Play, refusals: int | None = None) -> None:
    """Play to the end, or until this many attempts were refused."""
    await play.until_play()
    while refusals != 0 and play.next_act() is not None:
        if await attempt(play) and refusals is not None:
            refusals -= 1
        await play.step()


def building(play: Play) -> int:
    """Entries so far that are moves of building, refused ones among them."""
    record, count = Record(decode_entry(play.entries[0]).open), 0
    for data in play.entries:
        verdict = verdict_of(record.reread(data))
        count += verdict is not None and isinstance(verdict.event, BUILDING)
    return count


async def until_built(play: Play, count: int) -> None:
    """Play until this many certificates can be made."""
    await play.until_play()
    while building(play) < count:
        assert await play.step()


def frames(data: bytes, kind: int) -> list[bytes]:
    return [frame.payload for frame in file.read(BytesIO(data)) if frame.type == kind]


# --- whole games ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seats", "options"), [(3, SHORT), campaign(2, b"")], ids=["short", "whole"])
async def test_every_verdict_of_a_whole_game_is_proved(tmp_path: Path, seats: int, options: bytes) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(seats, terms=ALL_RECORDED, options=options)
        await play_with_attempts(play)
        await all_made(server)
        report = await audited(play)
        assert report.verdict is Verdict.COMPLETE, report.as_text()
        assert report.proofs.lacking == ()
        refusals = sum(decode_entry(data).HasField("refused") for data in play.entries)
        assert report.proofs.checked > refusals > 5
        assert server.prover.settled == {"made": report.proofs.checked}
        data = await client.log(play.id)
        assert frames(data, Type.ENTRY) == play.entries
        (header,) = frames(data, Type.HEADER)
        assert b"referee/alhambra/v1/proof.proto" in header
        without = await client.play(seats)
        await without.until_play()
        await abort(without)
        assert frames(await client.log(without.id), Type.CERTIFICATE) == []


async def test_refusals_alone(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(terms=REFUSALS)
        await play_with_attempts(play, refusals=5)
        await abort(play)
        await all_made(server)
        data = await client.log(play.id)
        entries = [decode_entry(entry) for entry in frames(data, Type.ENTRY)]
        proved = [log_pb2.Proof.FromString(payload).seq for payload in frames(data, Type.CERTIFICATE)]
        assert proved == [seq for seq, entry in enumerate(entries) if entry.HasField("refused")]
        assert len(proved) == 5
        report = await audited(play)
        assert (report.verdict, report.proofs.policy, report.proofs.checked, report.proofs.lacking) == (
            *(Verdict.COMPLETE, "REFUSALS"),
            *(len(proved), ()),
        )


async def test_a_file_is_never_too_long_for_its_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that would make it so are left out."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(terms=ALL)
        await until_built(play, 3)
        await abort(play)
        await all_made(server)
        made = frames(await client.log(play.id), Type.CERTIFICATE)
        monkeypatch.setattr(game_service, "_CERTIFICATE_BYTES", sum(map(len, made[:2])))
        assert frames(await client.log(play.id), Type.CERTIFICATE) == made[:2] != made


async def test_a_running_game_has_those_that_are_made(tmp_path: Path) -> None:
    """The file has the certificates up to now; after the end none is made twice."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(terms=ALL)
        await play.until_play()
        while not (await audited(play)).proofs.lacking:
            await play.step()
        report = await proved(play, server)
        assert report.verdict is Verdict.PREFIX
        assert report.proofs.checked == server.prover.settled["made"] >= 1
        await abort(play)
        await all_made(server)
        assert server.prover.settled == {"made": report.proofs.checked}
        assert (await audited(play)).verdict is Verdict.COMPLETE


# --- stopped and killed ----------------------------------------------------------------------------------------


@pytest.mark.long
async def test_killed_between_verdict_and_certificate(tmp_path: Path) -> None:
    """kill -9: one game is over by then and one runs; after the next start both get what they lack."""
    data, log = tmp_path / "data", tmp_path / "log"
    referee = await serve(data, log)
    async with connected(referee.address, referee.token) as client:
        plays = [await client.play(terms=ALL, seed=seed) for seed in (1, 2)]
        for play in plays:
            await until_built(play, 6)
        await abort(plays[0])
        referee.process.kill()
        await referee.process.wait()
    with closing(sqlite3.connect(data / STORE_FILE)) as store:
        (left,) = store.execute("SELECT count(*) FROM unproved").fetchone()
    assert left, "the game that goes on; the other one may have been quick"
    referee = await serve(data, log)
    async with connected(referee.address, referee.token) as client:
        for play in plays:
            moved(play, client)
            async with waiting_for("certificates after a restart"):
                while (report := await audited(play)).proofs.lacking:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert report.proofs.checked == building(play) >= 6
            assert report.verdict is (Verdict.COMPLETE if play is plays[0] else Verdict.PREFIX)
        referee.process.terminate()
        assert await referee.process.wait() == 0


async def test_stopped_with_certificates_to_make(tmp_path: Path) -> None:
    async with running(tmp_path / "data") as (server, client):
        await server.prover.close()
        play = await client.play(terms=ALL)
        await until_built(play, 3)
        await abort(play)
        before = await audited(play)
        assert (before.verdict, before.proofs.checked) == (Verdict.COMPLETE, 0)
        assert before.proofs.lacking
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        await all_made(server)
        after = await audited(play)
        assert (after.proofs.checked, after.proofs.lacking) == (len(before.proofs.lacking), ())
    async with running(tmp_path / "data") as (server, client):
        assert server.prover.waiting == 0
        assert server.workers.started == 0, "nothing is left to be done"


async def test_a_game_that_goes_on_after_a_restart(tmp_path: Path) -> None:
    """Entries after the restart are proved as well."""
    async with running(tmp_path / "data") as (server, client):
        play = await client.play(terms=ALL)
        await until_built(play, 1)
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        await until_built(play, 3)
        report = await proved(play, server)
        assert (report.verdict, report.proofs.checked) == (Verdict.PREFIX, building(play))
        await abort(play)
        await all_made(server)


async def test_a_game_that_was_lost_and_restored(tmp_path: Path) -> None:
    """From a player's copy: its certificates are made again."""
    async with running(tmp_path / "data") as (server, client):
        await server.prover.close()
        play = await client.play(terms=ALL)
        await until_built(play, 2)
        await abort(play)
        copy = BytesIO(await client.log(play.id))
    with closing(sqlite3.connect(tmp_path / "data" / STORE_FILE)) as store, store:
        for table in ("entries", "closed", "unproved", "games"):
            store.execute(f"DELETE FROM {table}")
    opened = open_data(tmp_path / "data", "referee.local")
    await restoration.restore(Context(opened.store, opened.signer, installed()), bytes.fromhex(play.id), copy)
    await opened.close()
    async with running(tmp_path / "data") as (server, client):
        moved(play, client)
        await all_made(server)
        report = await audited(play)
        assert (report.verdict, report.proofs.lacking) == (Verdict.COMPLETE, ())
        assert report.proofs.checked == building(play)


async def test_a_worker_that_dies_twice(tmp_path: Path, logged: StringIO) -> None:
    """The referee gives up the worker's claim and logs it; the game and the other claims continue."""
    async with running(tmp_path / "data") as (server, client):
        workers = server.workers

        async def kill() -> None:
            """Kill every worker, until two have been lost at one claim."""
            while not server.prover.settled["given_up"]:
                for pid in workers.pids:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                await asyncio.sleep(0)

        play = await client.play(terms=ALL)
        await play.until_play()
        killing = asyncio.create_task(kill())
        while not killing.done() and play.next_act() is not None:
            await play.step()
        async with waiting_for("a claim to be given up"):
            await killing
        assert workers.lost.total() >= 2
        await abort(play) if play.next_act() is not None else None
        await all_made(server)
        report = await audited(play)
        assert report.verdict is Verdict.COMPLETE
        assert len(report.proofs.lacking) == server.prover.settled["given_up"]
        assert report.proofs.checked == server.prover.settled["made"]
        told = [json.loads(line) for line in logged.getvalue().splitlines() if "proof given up" in line]
        assert {line["entry"] for line in told} <= set(report.proofs.lacking)
        assert all(line["game"] == play.id and line["why"] for line in told)


@pytest.mark.usefixtures("new_workers")
async def test_no_worker_to_be_had_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no memory or process left, say: the referee gives up nothing for that."""
    monkeypatch.setattr(solver, "PROOF_RETRY_S", 0.0)
    loop, tried = asyncio.get_running_loop(), [0]

    async def none_left(*_: object, **__: object) -> None:
        tried[0] += 1
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async with running(tmp_path / "data") as (server, client):
        with monkeypatch.context() as without:
            without.setattr(loop, "subprocess_exec", none_left)
            play = await client.play(terms=ALL)
            await until_built(play, 2)
            await until(lambda: tried[0] > 2, "a worker is asked for again")
        await abort(play)
        await all_made(server)
        report = await audited(play)
        assert (report.proofs.checked, report.proofs.lacking) == (building(play), ())
        assert "given_up" not in server.prover.settled


async def test_a_store_that_fails_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    """Certificates that could not be kept are made again, less and less often, and counted once."""
    monkeypatch.setattr(prover, "RETRY_S", 0.01)
    async with running(tmp_path / "data") as (server, client):
        writer, commits = sql_store(server)._writer, [0]
        write = writer._write

        def failing(changes: Sequence[Change]) -> None:
            commits[0] += any(change.certificates is not None for change in changes)
            if commits[0] <= 3:
                raise StoreFailed(f"no room for {commits[0]}")  # an equal error would be logged once
            write(changes)

        await server.prover.close()
        play = await client.play(terms=ALL)
        await until_built(play, 3)
        await abort(play)
        writer._write = failing
        server.prover.start()
        await all_made(server)
        report = await audited(play)
        assert (report.verdict, report.proofs.lacking) == (Verdict.COMPLETE, ())
        await until(lambda: server.prover.settled["made"], "certificates that are kept")
        assert server.prover.settled == {"made": report.proofs.checked}
        told = [json.loads(line) for line in logged.getvalue().splitlines() if '"proofs not kept"' in line]
        assert [line["again_s"] for line in told] == [0.01, 0.02, 0.04]


async def test_a_game_whose_entries_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    """The referee logs it once, until the next start; the other games continue."""
    async with running(tmp_path / "data") as (server, client):
        await server.prover.close()
        plays = [await client.play(terms=ALL, seed=seed) for seed in (1, 2)]
        for play in plays:
            await until_built(play, 2)
            await abort(play)
        entries = server.data.store.entries

        async def damaged(game_id: bytes, first: int, limit: int) -> list[Row]:
            if game_id.hex() == plays[0].id:
                raise StoreDamaged("database disk image is malformed")
            return await entries(game_id, first, limit)

        monkeypatch.setattr(server.data.store, "entries", damaged)
        server.prover.start()
        async with waiting_for("certificates of the other game"):
            while len(await server.data.store.awaiting_certificates()) > 1:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert server.prover.waiting == 0
        (told,) = [json.loads(line) for line in logged.getvalue().splitlines() if '"proofs given up"' in line]
        assert (told["level"], told["game"]) == ("error", plays[0].id)


class Failing:
    """The claims of Alhambra until the third, which fails."""

    def __init__(self, provable: Provable) -> None:
        self._provable = provable
        self._asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provable, name)

    def claims(self, state: Any, event: Any) -> tuple[Any, ...]:
        found = self._provable.claims(state, event)
        self._asked += bool(found)
        if self._asked > 2:
            raise RuntimeError("lost")
        return found


async def test_what_was_made_before_a_failure_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = installed()
    failing = Failing(known.provable("alhambra", 2))  # type: ignore[arg-type]
    monkeypatch.setattr(serving, "installed", lambda: replace(known, provable=lambda rules_id, version: failing))
    async with running(tmp_path / "data") as (server, client):
        await server.prover.close()
        play = await client.play(terms=ALL, seed=1)
        await until_built(play, 4)
        await abort(play)
        server.prover.start()
        await until(lambda: server.prover.settled["made"] == 2, "the first two certificates", every_s=0.02)
        assert (await audited(play)).proofs.checked == 2


# --- the truth of it -------------------------------------------------------------------------------------------


async def test_an_engine_that_is_wrong_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    """It lets a wall meet an open side. The certificate says so, stays as evidence, and the operator learns of it."""
    lenient = replace(installed(), game=lambda rules_id, version: LenientGame())
    monkeypatch.setattr(serving, "installed", lambda: lenient)
    async with running(tmp_path / "data", metrics="127.0.0.1:0") as (server, client):
        play, slipped = await play_to_a_slip(client, lenient)
        await until(lambda: server.prover.settled["contradicts"], "a contradiction", every_s=0.02)
        (line,) = [json.loads(line) for line in logged.getvalue().splitlines() if "contradicts the referee" in line]
        assert (line["level"], line["game"], line["entry"]) == ("error", play.id, slipped)
        assert "proved illegal (ALH-A2" in line["what"]
        await abort(play)
        await all_made(server)
        report = await audited(play, lenient)
        (finding,) = report.findings
        assert (report.verdict, finding.layer, finding.entry) == (Verdict.RULES, Layer.PROOFS, slipped)
        # An auditor whose engine is right finds it by the rules as well.
        layers = {finding.layer: finding.entry for finding in (await audited(play)).findings}
        assert layers[Layer.RULES] == layers[Layer.PROOFS] == slipped


async def play_to_a_slip(client: Client, engines: Engines) -> tuple[Play, int]:
    for seed in range(30):
        play = await client.play(terms=ALL, seed=seed)
        play.record = Record(play.created.game.open, engines=engines)
        await play.until_play()
        while play.next_act() is not None:
            if (move := slip(play.record.game.position.state)) is not None:
                seat, course = play.seat_on_turn(), play.record.game
                data = course.position.codec.encode_move(move, course.position.components)
                accepted = await play.act(play.move(seat, data), token_of(play, seat))
                return play, accepted.seq
            await play.step()
    raise AssertionError("no tile can be laid wrongly")


async def test_an_act_does_nothing_for_its_certificate(tmp_path: Path) -> None:
    """Counted: of all that makes certificates one note a commit, after the answer is on its way."""
    root = str(Path(file.__file__).parents[2])
    mine = ("referee/server/live/prover.py", "referee/log/proofs.py", "referee/server/service/solver.py", "solver/")
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename.removeprefix(f"{root}/")
        if event == "call" and name.startswith(mine):
            calls[frame.f_code.co_name] += 1

    async with running(tmp_path / "data") as (server, client):
        await server.prover.close()
        plays = [await client.play(terms=terms) for terms in (ALL, log_pb2.Terms())]
        for play in plays:
            await play.until_play()
        counts = []
        for play in plays:
            calls.clear()
            sys.setprofile(note)
            try:
                await play.steps(25)
            finally:
                sys.setprofile(None)
            counts.append(dict(calls))
    assert counts == [{"push": 25, "_tell": 25}, {}]


# --- what can be asked for -------------------------------------------------------------------------------------


async def test_terms_that_cannot_be(client: Client) -> None:
    without = log_pb2.Terms(proofs=log_pb2.PROOF_POLICY_REFUSALS)
    answer = await refused(client.create(2, terms=without))
    assert (answer.reason, answer.metadata["field"]) == ("INVALID_ARGUMENT", "terms.proofs")
    assert "illegal_moves that are recorded" in answer.metadata["expected"]
    unknown = log_pb2.Terms.FromString(b"\x10\x09")
    answer = await refused(client.create(2, terms=unknown))
    assert (answer.reason, answer.metadata["field"]) == ("INVALID_ARGUMENT", "terms.proofs")
