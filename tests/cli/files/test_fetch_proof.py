"""``referee fetch --with-proof``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from subprocess import CompletedProcess

from referee.log.note import Checkpoint, TlogProof
from referee.log.public.checkpoint import LogPolicy, check_head_logged
from referee.server.service.files import LOG_VERIFIER_FILE
from tests.cli.inside import referee
from tests.server.service.conftest import running


async def test_the_proof_is_beside_the_file(tmp_path: Path) -> None:
    """And is waited for: the game has only just ended."""
    data, folder = tmp_path / "data", tmp_path / "log"

    async def fetched(*words: object) -> CompletedProcess[str]:
        return await asyncio.to_thread(referee, "fetch", *words, "--with-proof", "--server", server.address)

    async with running(data, log=folder) as (server, client):
        play = await client.play(seed=1)
        await play.to_the_end()
        path = tmp_path / "final.gamelog"
        done = await fetched(play.id, "--out", path)
        assert (done.returncode, done.stderr) == (0, "")
        beside = tmp_path / "final.tlog-proof"
        assert done.stdout.splitlines()[1] == f"{beside}, leaf 1 of the public log"
        policy = LogPolicy.parse(f"log {(data / LOG_VERIFIER_FILE).read_text().strip()}\nquorum none\n".encode())
        origin = server.data.signer.verifier.name
        head = Checkpoint(origin, bytes.fromhex(play.id), play.record.size, play.record.root())
        assert check_head_logged(TlogProof.parse(beside.read_bytes()), head, policy).index == 1
        assert beside.stat().st_size < 4096
        going = await client.play(seed=2)
        done = await fetched(going.id, "--out", path)
        assert done.returncode == 1
        assert (
            done.stderr == f"referee: game {going.id} is not over, and its last head is logged then; expected "
            "--with-proof later\n"
        )
        done = await fetched("--all", "--out", tmp_path / "games")
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "games" / f"{play.id}.tlog-proof").exists()
    async with running(data) as (server, _):
        done = await fetched(play.id, "--out", path)
        assert done.returncode == 1
        assert "this referee has no public log" in done.stderr
