"""``referee log recover`` after a directory went back behind its log, and what becomes of its games."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from referee.server.publishing import recovery
from referee.server.publishing.sequencer import Sequencer
from tests.cli.command import referee as command
from tests.cli.inside import referee
from tests.server.service.conftest import running
from tests.server.service.player import Play
from tests.server.service.public_log import proved
from tests.server.service.resend import moved
from tests.waiting import until


async def set_back(tmp_path: Path) -> tuple[Play, Play]:
    """Play two games that a log has to their end; the database is kept as it was in the middle of the first."""
    data, folder, backup = tmp_path / "data", tmp_path / "log", tmp_path / "backup"
    async with running(data, log=folder) as (_, client):
        first = await client.play(seed=1, rules_id="kingdomino")
        await proved(client, first)
    shutil.copytree(data, backup)
    async with running(data, log=folder) as (_, client):
        moved(first, client)
        await first.to_the_end()
        second = await client.play(seed=2, rules_id="kingdomino")
        await second.to_the_end()
        await proved(client, first, first.record.size)
        await proved(client, second, second.record.size)
        for each in (first, second):
            (tmp_path / f"{each.id}.gamelog").write_bytes(await client.log(each.id))
    return first, second


async def test_what_the_log_knows_comes_back_and_so_do_the_games(tmp_path: Path) -> None:
    """One game was lost altogether, another lost its end; then the log and both games continue."""
    data, folder, backup = tmp_path / "data", tmp_path / "log", tmp_path / "backup"
    first, second = await set_back(tmp_path)
    head = (folder / "checkpoint").read_bytes()
    assert "the database has all 4 leaves" in referee("log", "recover", "--data", data, "--log", folder).stderr
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    refused = command("serve", "--data", data, "--listen", "127.0.0.1:0", "--log", folder)
    assert refused.returncode == 1
    assert "the published log has 4 leaves, and the database knows of 1" in refused.stderr
    assert "referee log recover" in refused.stderr
    assert "every game can continue" in referee("recover", "--data", data).stdout, "the marks went back as well"
    # Beyond the checkpoint: written, and not signed for.
    (folder / "tile/0/000.p/9").write_bytes(bytes(9 * 32))
    done = referee("log", "recover", "--data", data, "--log", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("3 of 4 leaves of the log have their places back; 3 heads were lost\n")
    assert f"game {first.id}: its head of {first.record.size} entries is a mark now" in done.stdout
    listed = referee("recover", "--data", data)
    assert listed.returncode == 1
    assert first.id in listed.stdout
    assert second.id in listed.stdout
    for each in (first, second):
        restored = referee("recover", each.id, "--from", tmp_path / f"{each.id}.gamelog", "--data", data)
        assert restored.returncode == 0, restored.stderr
    assert (folder / "checkpoint").read_bytes() == head
    async with running(data, log=folder) as (server, client):
        for each, leaf in ((first, 1), (second, 3)):
            assert (await proved(client, each, each.record.size)).index in {leaf, leaf + 1}
        third = await client.play(seed=3)
        assert (await proved(client, third)).index == 4, "the log goes on where it was"
        log = server.public_log
        assert isinstance(log, Sequencer)
        await until(lambda: log.published is not None and log.published.head.size == 5, "it is published")


async def test_tiles_of_another_database_beyond_the_checkpoint_are_removed(tmp_path: Path) -> None:
    """Nothing that was signed is lost, and still no log could be written there."""
    data, folder = tmp_path / "data", tmp_path / "log"
    async with running(data, log=folder) as (_, client):
        await proved(client, await client.play(seed=1))
    (folder / "tile/0/000.p/2").write_bytes(bytes(2 * 32))
    done = referee("log", "recover", "--data", data, "--log", folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("the database has all 1 leaves of the log\n1 files beyond the checkpoint are removed")
    assert "the database has all 1 leaves" in referee("log", "recover", "--data", data, "--log", folder).stderr
    async with running(data, log=folder) as (_, client):
        assert (await proved(client, await client.play(seed=2))).index == 1


async def test_killed_before_the_places_are_back_it_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, folder, backup = tmp_path / "data", tmp_path / "log", tmp_path / "backup"
    async with running(data, log=folder):
        pass
    shutil.copytree(data, backup)
    async with running(data, log=folder) as (_, client):
        await proved(client, await client.play(seed=1))
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    beyond = folder / "tile/0/000.p/2"
    beyond.write_bytes(bytes(2 * 32))
    with monkeypatch.context() as patched:
        patched.setattr(recovery, "_clear", _killed)
        with pytest.raises(_Killed):
            referee("log", "recover", "--data", data, "--log", folder)
    done = referee("log", "recover", "--data", data, "--log", folder)
    assert done.stdout.startswith("1 of 1 leaves of the log have their places back")
    assert not beyond.exists()


class _Killed(BaseException):
    """The process is gone."""


def _killed(*_: object) -> int:
    raise _Killed


@pytest.mark.parametrize("damage", ["leaf", "checkpoint", "none there"])
async def test_a_log_that_is_not_as_it_was_signed_brings_nothing_back(damage: str, tmp_path: Path) -> None:
    data, folder, backup = tmp_path / "data", tmp_path / "log", tmp_path / "backup"
    async with running(data, log=folder):
        pass
    shutil.copytree(data, backup)
    async with running(data, log=folder) as (_, client):
        await proved(client, await client.play(seed=1))
    shutil.rmtree(data)
    shutil.copytree(backup, data)
    match damage:
        case "leaf":
            bundle = folder / "tile/entries/000.p/1"
            bundle.write_bytes(bundle.read_bytes().replace(b"/g/", b"/h/"))
        case "checkpoint":
            note = folder / "checkpoint"
            note.write_bytes(note.read_bytes().replace(b"\n1\n", b"\n2\n"))
        case _:
            shutil.rmtree(folder)
    done = referee("log", "recover", "--data", data, "--log", folder)
    assert done.returncode == 1
    assert done.stderr.startswith("referee: nothing was recovered: ")
    assert "every game can continue" in referee("recover", "--data", data).stdout
