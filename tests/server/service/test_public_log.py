"""A referee with a public log: a game's course there, and the right to its proof."""

from __future__ import annotations

import asyncio
import shutil
from io import StringIO
from pathlib import Path

import grpc
import pytest
from rich.console import Console

from referee.cli.operators.status import picture
from referee.log.note import Checkpoint, Note, TlogProof, TreeHead, VerifierKey
from referee.log.public.checkpoint import LogPolicy, check_head_logged
from referee.log.public.sources import CHECKPOINT
from referee.server.publishing import sequencer
from referee.server.service.data import DataError
from referee.server.service.files import LOG_KEY_FILE, LOG_VERIFIER_FILE
from referee.server.service.server import Config, Server
from referee.v1 import game_service_pb2 as pb
from referee_clients.sdk.errors import answer_of
from tests.cli.inside import referee
from tests.server.publishing.club import published
from tests.server.publishing.witness import SmallWitness, serving
from tests.server.service.conftest import running
from tests.server.service.engines import Engine
from tests.server.service.facts import status
from tests.server.service.metrics import scrape
from tests.server.service.player import Client, Play
from tests.server.service.public_log import proved
from tests.waiting import until


def _policy(data: Path, witness: SmallWitness | None = None) -> LogPolicy:
    lines = [f"log {(data / LOG_VERIFIER_FILE).read_text().strip()}"]
    lines += [f"witness w1 {witness.verifier} {witness.url}", "quorum w1"] if witness else ["quorum none"]
    return LogPolicy.parse("\n".join(lines).encode())


def _witnessed_by(witness: SmallWitness, folder: Path) -> Path:
    path = folder / "policy"
    path.write_text(f"witness w1 {witness.verifier} {witness.url}\nquorum w1\n")
    return path


async def _missing(client: Client, game: str, size: int = 0) -> str:
    """Return why there is no proof."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.games.GetLogProof(pb.GetLogProofRequest(game_id=game, size=size))
    answer = answer_of(caught.value)
    assert answer.reason == "NOT_LOGGED"
    assert (answer.retry_s is not None) == (answer.metadata["missing"] in {"turn", "checkpoint"})
    return answer.metadata["missing"]


async def test_a_game_is_logged_when_it_opens_and_when_it_ends(engine: Engine, tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "log"
    with serving(SmallWitness()) as witness:
        policy_file = _witnessed_by(witness, tmp_path)
        config = {"log": folder, "log_policy": policy_file}
        async with running(data, metrics="127.0.0.1:0", **config) as (server, client):
            play = await client.play(rules_id="kingdomino", seed=1)
            opened = await proved(client, play)
            assert opened.index == 0
            await play.to_the_end()
            ended = await proved(client, play, play.record.size)
            assert (ended.size, ended.index) == (play.record.size, 1)
            policy = _policy(data, witness)
            head = Checkpoint(server.data.signer.verifier.name, bytes.fromhex(play.id), ended.size, play.record.root())
            logged = check_head_logged(TlogProof.parse(ended.proof), head, policy)
            assert logged.witnessed.has_quorum
            assert published(folder, policy).head.size == 2
            other = Checkpoint(head.origin, head.game_id, head.size, bytes(32))
            with pytest.raises(Exception, match="inclusion proof"):
                check_head_logged(TlogProof.parse(ended.proof), other, policy)
            assert await _missing(client, play.id, 2) == "head"
            found = await scrape(server.metrics_address)
            assert found.of("referee_log_leaves") == found.of("referee_log_published_leaves") == 2
            assert found.of("referee_log_witness_answers_total", "w1", "cosigned") >= 1
            assert found.of("referee_log_halted") == 0
        async with running(data, **config) as (_, client):
            again = await proved(client, play, ended.size)
            assert (again.index, again.size) == (1, ended.size), "and after a start as before"


@pytest.mark.parametrize("is_witnessed", [False, True], ids=["alone", "witnessed"])
async def test_the_log_of_a_referee_without_a_game_is_empty_and_holds(tmp_path: Path, is_witnessed: bool) -> None:
    data, folder, trusted = tmp_path / "data", tmp_path / "log", tmp_path / "trusted"
    with serving(SmallWitness()) as witness:
        config = {"log_policy": _witnessed_by(witness, tmp_path)} if is_witnessed else {}
        async with running(data, log=folder, **config) as (server, _):
            log = server.public_log
            assert log is not None
            await until(lambda: log.published is not None, "it is published")
            lines = [f"log {log.verifier}"]
            lines += [f"witness w1 {witness.verifier}", "quorum w1"] if is_witnessed else ["quorum none"]
            trusted.write_text("\n".join(lines))
            for words in (("check",), ("watch", "--state", tmp_path / "seen")):
                done = await asyncio.to_thread(referee, "log", *words, folder, "--policy", trusted)
                expected = f"{log.verifier.name}: the log is empty, as no game was opened yet, cosigned by "
                assert (done.returncode, done.stdout.splitlines()[0]) == (0, "HOLDS"), done
                assert done.stdout.splitlines()[1].startswith(expected + ("w1" if is_witnessed else "no witness")), done


async def test_a_damaged_file_that_cannot_be_made_again_is_told_by_status_and_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencer, "REST_S", 0.0)
    folder = tmp_path / "log"
    async with running(tmp_path / "data", log=folder, metrics="127.0.0.1:0") as (server, client):
        await proved(client, await client.play(seed=2))
        tile, log = folder / "tile/0/000.p/1", server.public_log
        assert log is not None
        tile.unlink()
        tile.mkdir()
        await until(lambda: log.trouble, "it has looked")
        found = await status(client)
        assert found.server.log_trouble == f"damaged files in {folder}: tile/0/000.p/1"
        shown = StringIO()
        Console(file=shown, width=400).print(picture(found, 400))
        assert f"public log: {found.server.log_trouble}\n" in shown.getvalue()
        assert (await scrape(server.metrics_address)).of("referee_log_damaged_files") == 1


async def test_who_has_no_log_says_so(client: Client, play: Play) -> None:
    assert await _missing(client, play.id) == "log"
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.games.GetLogProof(pb.GetLogProofRequest(game_id="00" * 16))
    assert answer_of(caught.value).reason == "UNKNOWN_GAME"


async def test_a_log_that_begins_later_has_the_games_of_before(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "log"
    async with running(data) as (_, client):
        over = await client.play(rules_id="kingdomino", seed=1)
        await over.to_the_end()
        running_ = await client.play(seed=2)
    async with running(data, log=folder) as (_, client):
        assert (await proved(client, running_)).index == 2
        assert (await proved(client, over)).index == 1
    assert published(folder, _policy(data)).head.size == 3


async def test_games_go_on_while_no_witness_signs(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "log"
    witness = SmallWitness()
    witness.answer = lambda _: (500, b"")
    with serving(witness):
        config = {"log": folder, "log_policy": _witnessed_by(witness, tmp_path)}
        async with running(data, **config) as (server, client):
            play = await client.play(rules_id="kingdomino", seed=1)
            await play.to_the_end()
            log = server.public_log
            assert log is not None
            await until(lambda: log.size == 2, "it is written")
            assert await _missing(client, play.id) == "checkpoint"
            assert TreeHead.parse(Note.parse((folder / CHECKPOINT).read_bytes()).text).size == 0
        witness.answer = witness.honest
        async with running(data, **config) as (_, client):
            assert (await proved(client, play)).index == 1


async def test_a_directory_that_went_back_behind_its_log_is_not_started(tmp_path: Path, engine: Engine) -> None:
    """Marks and all went back together: only the log, which lies elsewhere, knows more."""
    data, folder = tmp_path / "data", tmp_path / "log"
    async with running(data, log=folder) as (_, client):
        first = await client.play(seed=1)
        await proved(client, first)
    engine.back_up()
    shutil.copytree(data, tmp_path / "backup")
    async with running(data, log=folder) as (_, client):
        await proved(client, await client.play(seed=2))
    shutil.rmtree(data)
    shutil.copytree(tmp_path / "backup", data)
    engine.restore()
    with pytest.raises(DataError, match=r"the published log has 2 leaves, and the database knows of 1: .* went back"):
        await Server.start(Config(data, log=folder))


async def test_a_log_whose_key_is_gone_is_not_gone_on_with(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "log"
    async with running(data, log=folder):
        pass
    (data / LOG_KEY_FILE).unlink()
    with pytest.raises(DataError, match=r"log\.pem: No such file, and the public log is signed with it"):
        await Server.start(Config(data, log=folder))


async def test_policies_that_cannot_be_used(tmp_path: Path) -> None:
    data, path = tmp_path / "data", tmp_path / "policy"
    async with running(data, log=tmp_path / "log"):
        pass
    own = VerifierKey.parse((data / LOG_VERIFIER_FILE).read_text().strip())
    other = VerifierKey.of(own.name, SmallWitness().key.public)
    witness = SmallWitness()
    for text, expected in (
        ("nonsense\n", "policy: line 1"),
        (f"log {other}\nquorum none\n", "it has another key of the log"),
        (f"witness w1 {witness.verifier}\nquorum w1\n", "the quorum w1 can never be met"),
        (f"witness w1 {witness.verifier} ftp://x\nquorum w1\n", "witness w1: expected http"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=expected):
            await Server.start(Config(data, log=tmp_path / "log", log_policy=path))
    with pytest.raises(DataError, match="No such file"):
        await Server.start(Config(data, log=tmp_path / "log", log_policy=tmp_path / "none"))


def test_the_head_in_a_note_is_the_head_that_is_logged() -> None:
    """The leaf is the text of the game's checkpoint, behind a line of its own."""
    from referee.log.public.checkpoint import FIRST_LINE, leaf_of

    head = Checkpoint("club.example", bytes(16), 7, bytes(32))
    assert leaf_of(head).decode() == FIRST_LINE + Note(head.text(), ()).text
