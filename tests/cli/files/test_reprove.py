"""``referee reprove``: certificates that lack, do not hold, or prove the opposite; and all that stays as it is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

import pytest

from referee.cli.files.reprove import Reproved
from referee.cli.shared.solver import Solver
from referee.log import file
from referee.log.audit import audit
from referee.log.certificates import decode_proof
from referee.log.file import MAGIC, FrameType, encode_frame
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy, Report, Verdict
from tests.cli.inside import referee
from tests.contested.games import game
from tests.core import needs_source
from tests.log.games import SIGNER, Played
from tests.log.games import small_header as a_small_header
from tests.log.kingdomino_certificates import LENIENT, a_game, claims, frames, misjudged
from tests.log.proved import with_frames
from tests.sizes import Part, in_parts

UNKNOWN = 0x9F
"""A type of frames that no reader knows, and none minds."""


def written(path: Path, played: Played, made: dict[int, list[bytes]]) -> Path:
    path.write_bytes(with_frames(played, made))
    return path


def of(path: Path) -> Report:
    return audit(BytesIO(path.read_bytes()), Policy(SIGNER.verifier))


def beside(data: bytes) -> list[tuple[int, bytes]]:
    """Return all frames but certificates."""
    return [(each.type, each.payload) for each in file.read(BytesIO(data)) if each.type != FrameType.CERTIFICATE]


def joined(parts: Iterable[tuple[int, bytes]]) -> bytes:
    return MAGIC + b"".join(encode_frame(kind, payload) for kind, payload in parts)


@pytest.fixture(scope="module")
def proved() -> tuple[Played, dict[int, list[bytes]]]:
    played, made = a_game()
    return played, frames(played, made)


def test_wrong_ones_are_replaced_and_lacking_ones_added(
    tmp_path: Path, proved: tuple[Played, dict[int, list[bytes]]]
) -> None:
    played, made = proved
    first, second, third, *_ = sorted(made)
    swapped = log_pb2.Proof.FromString(made[first][0])
    swapped.certificate = decode_proof(made[second][0]).certificate
    wrong = {**made, first: [swapped.SerializeToString(deterministic=True)], second: [b"no proof"]}
    del wrong[third]
    path = written(tmp_path / "game.gamelog", played, wrong)
    path.chmod(0o640)
    before = path.read_bytes()
    assert (of(path).verdict, of(path).proofs.failed, of(path).proofs.lacking) == (
        Verdict.CORRUPT,
        2,
        (first, second, third),
    )
    assert any("`referee reprove FILE` renews them" in remark for remark in of(path).remarks)

    done = referee("reprove", path)
    kept = len(made) - 3
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{path}: {kept} certificates kept, 3 made, 2 removed\n"
    assert (of(path).verdict, of(path).proofs.checked) == (Verdict.COMPLETE, len(made))
    assert beside(path.read_bytes()) == beside(before)
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path], "nothing is left beside it"

    again = path.read_bytes()
    done = referee("reprove", path)
    assert done.stdout == f"{path}: {len(made)} certificates kept, 0 made, 0 removed\n"
    assert path.read_bytes() == again


def test_another_file_is_written_and_what_nobody_knows_stays(
    tmp_path: Path, proved: tuple[Played, dict[int, list[bytes]]]
) -> None:
    played, made = proved
    first, *_ = sorted(made)
    parts = [(each.type, each.payload) for each in file.read(BytesIO(with_frames(played, {first: made[first]})))]
    parts.insert(first + 2, (UNKNOWN, b"somebody's"))
    path, out = tmp_path / "game.gamelog", tmp_path / "proved.gamelog"
    path.write_bytes(joined(parts))
    before = path.read_bytes()
    done = referee("reprove", path, "--out", out)
    assert (done.returncode, path.read_bytes()) == (0, before)
    assert beside(out.read_bytes()) == beside(before)
    assert (UNKNOWN, b"somebody's") in beside(out.read_bytes())
    assert of(out).proofs.checked == len(made)


@in_parts(3)
def test_contested_games_have_all_that_can_be_proved(tmp_path: Path, part: Part) -> None:
    """Stand-ins, moves that an arbiter lets stand, and what was taken back among them."""
    tried = (game("kingdomino", number, log_pb2.PROOF_POLICY_ALL) for number in part.of(range(12)))
    made = next(each for each in tried if each.verdict is Verdict.COMPLETE)
    path = tmp_path / "game.gamelog"
    path.write_bytes(made.data)
    assert len(of(path).proofs.lacking) > 0
    assert referee("reprove", path).returncode == 0
    report = of(path)
    assert (report.verdict, report.proofs.lacking, report.proofs.failed) == (Verdict.COMPLETE, (), 0)
    assert report.proofs.checked == report.proofs.wanted > 0


@needs_source
def test_the_opposite_is_kept_and_told() -> None:
    """The referee's engine forgot a rule: the certificate is evidence."""
    played = misjudged()
    (seq,) = made = frames(played, claims(played))
    for known in ({}, made):
        again = Reproved(list(file.read(BytesIO(with_frames(played, known)))), LENIENT)
        with Solver() as solver:
            data = again.data(solver, 0)
        assert again.contradictions == [(seq, "the referee judged it legal, but it is proved illegal (KDO-13)")]
        assert data == with_frames(played, made)


def test_files_that_do_not_hold_are_left_alone(tmp_path: Path, proved: tuple[Played, dict[int, list[bytes]]]) -> None:
    played, made = proved
    whole = with_frames(played, made)
    at = whole.index(played.entries[20])
    damaged = whole[: at + 30] + bytes([whole[at + 30] ^ 1]) + whole[at + 31 :]
    rollwrite = Path(__file__).parent.parent.parent / "frozen" / "rollwrite-1-aborted.gamelog"
    for name, data, code, words in (
        ("torn", whole[:-30], 3, "TORN"),
        ("damaged", damaged, 4, "FRAME"),
        ("text", b"no game", 4, ""),
        ("rollwrite", rollwrite.read_bytes(), 2, "a game of rollwrite cannot have certificates"),
    ):
        path = tmp_path / f"{name}.gamelog"
        path.write_bytes(data)
        done = referee("reprove", path)
        assert (done.returncode, path.read_bytes()) == (code, data), (name, done)
        assert words in done.stderr
        assert done.stderr.startswith(f"referee: {path}: ")
    none = tmp_path / "none.gamelog"
    done = referee("reprove", none)
    assert (done.returncode, done.stderr) == (2, f"referee: {none}: No such file or directory\n")
    nowhere = tmp_path / "none" / "out.gamelog"
    done = referee("reprove", written(tmp_path / "game.gamelog", played, made), "--out", nowhere)
    assert (done.returncode, done.stderr) == (1, f"referee: --out {nowhere}: No such file or directory\n")


def test_what_takes_too_much_is_counted(tmp_path: Path, proved: tuple[Played, dict[int, list[bytes]]]) -> None:
    played, made = proved
    first, *_ = sorted(made)
    path = written(tmp_path / "game.gamelog", played, {seq: made[seq] for seq in made if seq != first})
    done = referee("reprove", path, "--rlimit", "1")
    assert done.returncode == 1
    assert (
        done.stdout == f"{path}: {len(made) - 1} certificates kept, 0 made, 0 removed, 1 not proved within the limit\n"
    )
    assert of(path).proofs.lacking == (first,)


def test_what_is_no_ordinary_file_is_not_replaced(
    tmp_path: Path, proved: tuple[Played, dict[int, list[bytes]]]
) -> None:
    """A link stays one, and what it leads to gets the certificates; --out never writes over what is there."""
    played, made = proved
    first, *_ = sorted(made)
    path = written(tmp_path / "game.gamelog", played, {first: made[first]})
    link = tmp_path / "link.gamelog"
    link.symlink_to(path.name)
    assert referee("reprove", link).returncode == 0
    assert link.is_symlink()
    assert of(path).proofs.checked == len(made)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for there in (pipe, path):
        before = path.read_bytes()
        done = referee("reprove", path, "--out", there)
        assert (done.returncode, done.stderr) == (1, f"referee: --out {there}: File exists\n")
        assert path.read_bytes() == before
    assert pipe.is_fifo()


def test_files_without_a_game_are_refused(tmp_path: Path, proved: tuple[Played, dict[int, list[bytes]]]) -> None:
    played, made = proved
    parts = [(each.type, each.payload) for each in file.read(BytesIO(with_frames(played, made)))]
    other = [(FrameType.HEADER, a_small_header()), *parts[1:-1]]
    for name, data, code in (("magic", MAGIC, 3), ("header", joined(parts[:1]), 3), ("other", joined(other), 4)):
        path = tmp_path / f"{name}.gamelog"
        path.write_bytes(data)
        done = referee("reprove", path)
        assert (done.returncode, path.read_bytes()) == (code, data), (name, done)
