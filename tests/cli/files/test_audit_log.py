"""``referee audit --log-policy``: a file whose head is in the public log, is not, or contradicts what is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.games.alhambra import Options
from referee.log.note import Checkpoint, TlogProof
from tests.cli.audit_log import Log, head_of
from tests.cli.inside import referee
from tests.log.alhambra import CODEC, alhambra, at_random
from tests.log.games import ORIGIN, SIGNER, Played, build_file, play
from tests.log.public.logs import LOG, NOW_S, policy_text


@pytest.fixture(scope="module")
def played() -> Played:
    return play(alhambra(seats=2, options=CODEC.encode_options(Options(max_turns=4))), at_random(2))


class Place:
    """A file, a policy, and what is beside them."""

    def __init__(self, folder: Path, played: Played, quorum: str = "2") -> None:
        self.file = folder / "game.gamelog"
        self.file.write_bytes(played.file())
        self.beside = folder / "game.tlog-proof"
        self.policy = folder / "policy"
        self.policy.write_text(policy_text(quorum))

    def audit(self, *more: str | Path) -> tuple[int, str]:
        done = referee("audit", self.file, "--key", str(SIGNER.verifier), "--log-policy", self.policy, *more)
        assert done.stderr == ""
        return done.returncode, done.stdout


@pytest.fixture
def place(tmp_path: Path, played: Played) -> Place:
    return Place(tmp_path, played)


def test_the_proof_beside_the_file_is_found_and_said(place: Place, played: Played) -> None:
    place.beside.write_bytes(Log(head_of(played, len(played.entries))).proof(200, "w1", "w3"))
    code, text = place.audit("--require-log")
    assert (code, text.splitlines()[0]) == (0, "COMPLETE")
    size = len(played.entries)
    assert (
        f"logged: {size} entries as entry 200 of {LOG.verifier.name}, cosigned by w1, w3,"
        " by a quorum at 2026-11-18 11:07:40" in text
    )
    code, text = place.audit("--json")
    (logged,) = json.loads(text)["logged"]
    assert (logged["size"], logged["index"], logged["cosigned"]) == (size, 200, {"w1": NOW_S, "w3": NOW_S + 60})


def test_without_a_proof_it_is_a_remark_or_if_demanded_a_verdict(place: Place) -> None:
    code, text = place.audit()
    assert (code, text.splitlines()[0]) == (0, "COMPLETE")
    assert "comment: nothing shows that the file's last head is in the public log: no proof was given" in text
    code, text = place.audit("--require-log")
    assert (code, text.splitlines()[0]) == (13, "UNLOGGED")
    assert "  log: UNLOGGED: nothing shows" in text


def test_a_proof_that_does_not_hold_is_as_good_as_none(place: Place, played: Played, tmp_path: Path) -> None:
    log = Log(head_of(played, len(played.entries)))
    good = log.proof(200, "w1", "w2")
    bad = {
        "of another entry": (log.proof(199, "w1", "w2"), "the proof leads to another root"),
        "with one witness of two": (log.proof(200, "w1"), "cosigned by w1; expected the quorum all-of-them"),
        "of a log that is not trusted": (
            good.replace(ORIGIN.encode() + b"/log", b"other.example/log"),
            "not signed by",
        ),
        "with a wrong signature": (good.replace(b"\n300\n", b"\n301\n"), "signature of"),
        "that is none": (b"nothing", "another first line"),
        "of another game": (log.proof(5, "w1", "w2", extra=True), "a proof of game"),
    }
    for name, (data, expected) in bad.items():
        place.beside.write_bytes(data)
        code, text = place.audit()
        assert (code, text.splitlines()[0]) == (0, "COMPLETE"), name
        assert expected in text, name
        proof = tmp_path / "given"
        proof.write_bytes(data)
        code, text = place.audit("--proof", proof)
        assert (code, text.splitlines()[0]) == (13, "UNLOGGED"), name
        assert expected in text, name


def test_another_head_of_the_same_size_in_the_log_is_a_fork(place: Place, played: Played) -> None:
    size = len(played.entries)
    place.beside.write_bytes(
        Log(Checkpoint(ORIGIN, played.record.game_id, size, bytes(32))).proof(200, "w1", "w2", extra=True)
    )
    code, text = place.audit()
    assert (code, text.splitlines()[0]) == (7, f"FORK at entry {size - 1}")
    assert f"a signed head in the public log of {size} entries" in text


def test_a_longer_head_in_the_log_shows_that_the_file_is_old(place: Place, played: Played) -> None:
    size = len(played.entries)
    place.beside.write_bytes(Log(head_of(played, size)).proof(200, "w1", "w2", extra=True))
    place.file.write_bytes(build_file(played.header, played.entries[:-3], played.notes[-4]))
    code, text = place.audit()
    assert (code, text.splitlines()[0]) == (6, "STALE")


def test_the_opening_bounds_when_it_began_but_is_not_the_last_head(
    place: Place, played: Played, tmp_path: Path
) -> None:
    log = Log(head_of(played, 1), head_of(played, len(played.entries)))
    (tmp_path / "opening").write_bytes(log.proof(200, "w1", "w2", extra=True))
    (tmp_path / "end").write_bytes(log.proof(201, "w2", "w3"))
    code, text = place.audit("--proof", tmp_path / "opening", "--proof", tmp_path / "end")
    assert code == 0
    assert [line.partition(" as ")[0] for line in text.splitlines() if line.startswith("logged")] == [
        f"logged: {len(played.entries)} entries",
        "logged: 1 entry",
    ]
    code, text = place.audit("--proof", tmp_path / "opening")
    assert code == 13
    assert "only older heads are" in text
    assert "logged: 1 entry as entry 200" in text


def test_a_wrong_opening_in_the_log_is_a_fork_too(place: Place, played: Played) -> None:
    log = Log(Checkpoint(ORIGIN, played.record.game_id, 1, bytes(32)))
    place.beside.write_bytes(log.proof(200, "w1", "w2", extra=True))
    code, text = place.audit()
    assert (code, text.splitlines()[0]) == (7, "FORK at entry 0")


def test_a_log_without_witnesses_is_said_to_have_none(tmp_path: Path, played: Played) -> None:
    place = Place(tmp_path, played, "none")
    place.beside.write_bytes(Log(head_of(played, len(played.entries))).proof(200))
    code, text = place.audit("--require-log")
    assert (code, "cosigned by no witness" in text) == (0, True)


def test_a_game_that_is_not_over_is_a_prefix_before_it_is_unlogged(place: Place, played: Played) -> None:
    place.file.write_bytes(played.file()[:-60])
    code, text = place.audit("--require-log")
    assert (code, text.partition("(")[0]) == (3, "PREFIX")
    assert "  log: UNLOGGED" in text


def test_a_directory_has_a_proof_beside_every_file(place: Place, played: Played, tmp_path: Path) -> None:
    place.beside.write_bytes(Log(head_of(played, len(played.entries))).proof(200, "w1", "w3"))
    (tmp_path / "other.gamelog").write_bytes(played.file())
    done = referee("audit", tmp_path, "--key", str(SIGNER.verifier), "--log-policy", place.policy, "--require-log")
    assert done.returncode == 13
    verdicts = {line.split()[1].rstrip(","): line.split()[0] for line in done.stdout.splitlines()[:2]}
    assert verdicts == {"game.gamelog": "COMPLETE", "other.gamelog": "UNLOGGED"}


@pytest.mark.parametrize("more", [("--require-log",), ("--proof", "x")])
def test_a_demand_needs_a_policy(place: Place, more: tuple[str, ...]) -> None:
    done = referee("audit", place.file, "--key", str(SIGNER.verifier), *more)
    assert (done.returncode, "need --log-policy" in done.stderr) == (2, True)


def test_a_run_goes_on_only_with_the_proofs_that_it_has_seen(place: Place, played: Played, tmp_path: Path) -> None:
    """A proof that came later, that is another, that is gone: each is a new question."""
    proof, results = Log(head_of(played, len(played.entries))).proof(200, "w1", "w2"), tmp_path / "out.jsonl"
    words = ("--key", str(SIGNER.verifier), "--log-policy", place.policy, "--require-log", "--resume", results)

    def audited() -> tuple[int, int]:
        code = referee("audit", place.file.parent, *words, "--jobs", 1).returncode
        return code, len(results.read_text().splitlines())

    assert [audited(), audited()] == [(13, 2), (13, 2)], "nothing has changed"
    place.beside.write_bytes(proof)
    assert [audited(), audited()] == [(0, 3), (0, 3)]
    place.beside.write_bytes(proof[:-40])
    assert [audited(), audited()] == [(13, 4), (13, 4)]
    place.beside.write_bytes(proof)
    assert audited() == (0, 5)
    place.beside.unlink()
    assert audited() == (13, 6)


def test_a_policy_that_is_none_is_named_with_its_line(place: Place) -> None:
    place.policy.write_text("quorum x\n")
    done = referee("audit", place.file, "--key", str(SIGNER.verifier), "--log-policy", place.policy)
    assert (done.returncode, "line 1: 'x'" in done.stderr) == (2, True)


def test_a_file_that_another_referee_signed_is_not_logged_by_name(place: Place, played: Played) -> None:
    """The log may have heads of several origins; only those of the referee that the caller names are compared."""
    stranger = Checkpoint("stranger.example", played.record.game_id, len(played.entries), bytes(32))
    place.beside.write_bytes(Log(stranger).proof(200, "w1", "w2", extra=True))
    code, text = place.audit()
    assert (code, text.splitlines()[0]) == (0, "COMPLETE")
    assert "comment: nothing shows" in text
    assert TlogProof.parse(place.beside.read_bytes()).index == 200
