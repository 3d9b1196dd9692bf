"""A public log that was written once: it has to be read for ever, tiles, checkpoint, policy and proof."""

from __future__ import annotations

from pathlib import Path

from referee.log.fork import read_file
from referee.log.note import TlogProof, VerifierKey
from referee.log.public.checkpoint import leaf_of, prove_head
from referee.log.public.sources import CHECKPOINT, Folder
from referee.log.public.tiles import TileTree
from tests.cli.inside import referee
from tests.log.public.logs import leaves, policy_text, publish

HERE = Path(__file__).parent
LOG, POLICY = HERE / "public-log", HERE / "public-log.policy"
GAME = HERE / "kingdomino-1-dealt-4.gamelog"
_INDEX = 300


def test_the_log_holds_and_the_proof_beside_a_game_as_well(tmp_path: Path) -> None:
    done = referee("log", "check", LOG, "--policy", POLICY)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "HOLDS")
    done = referee("log", "watch", LOG, "--policy", POLICY, "--state", tmp_path / "seen", "--max-age", "0")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "HOLDS")
    done = referee("audit", GAME, "--key", HERE / "referee.vkey", "--log-policy", POLICY, "--require-log")
    assert (done.returncode, f"logged: 124 entries as entry {_INDEX} of referee.example/log" in done.stdout) == (
        0,
        True,
    )


def test_what_is_made_today_is_the_same_to_the_byte(tmp_path: Path) -> None:
    make(tmp_path)
    for path in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        assert path.read_bytes() == (HERE / path.relative_to(tmp_path)).read_bytes(), path


def make(folder: Path) -> None:
    """Write the log, its policy and the proof. Never again over those that are there."""
    head = read_file(GAME.read_bytes(), VerifierKey.parse((HERE / "referee.vkey").read_text().strip())).checkpoint
    publish(folder / LOG.name, [[*leaves(_INDEX), leaf_of(head), *leaves(20, _INDEX)]], "w1", "w2", "w3")
    (folder / POLICY.name).write_text(policy_text("2"))
    files = Folder(folder / LOG.name)
    note = files.read(CHECKPOINT)
    assert note is not None
    proof = prove_head(TileTree(files, _INDEX + 21), _INDEX, note)
    assert TlogProof.parse(proof.encode()) == proof
    (folder / GAME.with_suffix(".tlog-proof").name).write_bytes(proof.encode())
