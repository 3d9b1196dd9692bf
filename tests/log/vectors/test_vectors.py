"""The vectors as a product: what is written fits what the package says, and engines are compared as they should be."""

from __future__ import annotations

import json
import re
import shlex
import sys
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.vectors import DATA, export
from referee.log.vectors.counting import KINDS, BadAnswer, Question, counting, questions
from referee.log.vectors.transcripts import TRANSCRIPTS
from referee.log.verdict import Policy
from tests.cli.inside import referee
from tests.docs.shell import ROOT
from tests.sizes import campaign, sample_of
from tests.transcripts import HERE

NAIVE = ROOT / "docs" / "examples" / "engines" / "naive.py"
DOMINOES = DATA / "kingdomino" / "dominoes.txt"


@pytest.mark.parametrize("names", [("kingdomino-2", "rollwrite-1"), campaign(None)], ids=["sample", "campaign"])
def test_what_is_written_fits_the_package(
    names: tuple[str, ...] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in one, as it takes a while to write. ``names``: of transcripts; None: all."""
    if names is not None:
        monkeypatch.setattr(export, "TRANSCRIPTS", [each for each in TRANSCRIPTS if each.name in names])
    written = tmp_path / "out"
    done = referee("vectors", "--out", written)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wrote ")
    the_manifest_has_the_hash_of_every_file(written)
    transcripts_are_the_golden_ones(written)
    good_files_are_complete_and_no_forged_one_is(written)
    good_certificates_hold_and_forged_ones_are_refused(written)


def test_the_files_of_games_are_frozen_ones() -> None:
    kept = sorted((DATA / "logs").iterdir())
    assert len(kept) == 4
    assert all(path.read_bytes() == (ROOT / "tests" / "frozen" / path.name).read_bytes() for path in kept)


def lines(path: Path) -> list[dict[str, object]]:
    """Return the objects of a file, one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def the_manifest_has_the_hash_of_every_file(written: Path) -> None:
    manifest = json.loads((written / "MANIFEST.json").read_text())
    there = {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()}
    assert there - {"MANIFEST.json"} == set(manifest["sha256"])
    assert all(sha256((written / name).read_bytes()).hexdigest() == known for name, known in manifest["sha256"].items())
    assert manifest["rules"] == {game.rules_id: game.version for game in registry.newest()}


def transcripts_are_the_golden_ones(written: Path) -> None:
    found = [*written.glob("*/transcripts/*.txt")]
    assert len(found) >= 2
    for kept in found:
        path = HERE / kept.name
        assert kept.read_bytes() == path.read_bytes()
        digests = re.findall(r"^digest (\w+)", path.read_text(), re.MULTILINE)
        told = lines(kept.with_suffix(".jsonl"))
        assert [each["digest"] for each in told] == digests
        assert all(sha256(bytes.fromhex(str(each["encoding"]))).hexdigest() == each["digest"] for each in told)
        assert list(told[0]) == ["number", "awaited", "position", "encoding", "digest", "scores", "moves", "event"]
        assert "places" in told[-1]


def good_files_are_complete_and_no_forged_one_is(written: Path) -> None:
    policy = Policy(VerifierKey.parse((written / "logs" / "referee.vkey").read_text().strip()))
    verdicts = json.loads((written / "logs" / "verdicts.json").read_text())
    assert len(verdicts) >= 30
    for name, told in verdicts.items():
        assert (told["verdict"] == "COMPLETE") == name.startswith("good/"), name
    for name in ("good/rollwrite-1-dealt-3-contested", "forged/rollwrite-1-dealt-3-contested-entries-swapped"):
        data = (written / "logs" / f"{name}.gamelog").read_bytes()
        assert audit(BytesIO(data), policy).verdict.name == verdicts[f"{name}.gamelog"]["verdict"]


def good_certificates_hold_and_forged_ones_are_refused(written: Path) -> None:
    for name, code in (("good", 0), ("forged", 1)):
        checked = referee("prove", "--check", written / "certificates" / f"{name}.jsonl")
        assert checked.returncode == code
        answers = [json.loads(line) for line in checked.stdout.splitlines()]
        assert {"error" in answer for answer in answers} == {name == "forged"}


def test_it_writes_into_no_folder_that_has_something(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    for words, said in (
        (["--out", str(tmp_path)], "there is something in it"),
        (["--out", str(tmp_path / "mine" / "x")], "Not a directory"),
        ([], "expected --out DIR"),
    ):
        done = referee("vectors", *words)
        assert done.returncode in {1, 2}
        assert said in done.stderr + done.stdout


# --- engines ---------------------------------------------------------------------------------------------------------

ENGINE = """
import json, sys
sys.path.insert(0, {root!r})
from referee.log.vectors.counting import count, counting
from referee.log.vectors.counting import Entry
for line in sys.stdin:
    ((kind, told),) = json.loads(line).items()
    said = told["entry"]
    entry = Entry(said.pop("id"), play=[tuple(words) for words in said.pop("play")], lines=said)
    if kind == "count":
        answer = count(told["game"], entry, told["depth"])
    else:
        state = counting(told["game"]).start(entry).state
        answer = {{"score": list(state.scores), "digest": state.digest().hex()}}.get(kind)
    print(json.dumps({{kind: answer}} if answer is not None else {{"unsupported": True}}), flush=True)
"""


def compared(engine: Path, *words: str, arguments: str = "") -> tuple[int, list[dict[str, Any]]]:
    """The exit code and what was said."""
    command = f"exec:{shlex.join([sys.executable, str(engine)])} {arguments}"
    done = referee("vectors", "check", "--engine", command, "--json", *words)
    return done.returncode, json.loads(done.stdout)


def test_our_own_engine_agrees(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(ENGINE.format(root=str(ROOT)))
    code, told = compared(tmp_path / "engine.py", "--most", "10")
    assert code == 0
    assert {each["game"] for each in told} == set(registry.names())
    for each in told:
        assert not each["differences"]
        assert each["agreed"] == each["answered"]
        assert (each["unsupported"] == 0) == (each["kind"] != "legal")


def test_a_naive_engine_agrees_in_what_it_knows() -> None:
    code, told = compared(NAIVE, "--game", "kingdomino", "--most", "30", arguments=shlex.quote(str(DOMINOES)))
    assert code == 0
    answered = {each["kind"]: each["answered"] for each in told}
    assert answered["digest"] == 0
    assert min(answered[kind] for kind in KINDS[:3]) >= 10
    assert len(NAIVE.read_text().splitlines()) <= 140


@pytest.mark.parametrize(
    ("right", "wrong", "kinds"),
    sample_of(
        [
            ("area * crowns", "area + crowns", {"score"}),
            ("return (0, 0) in beside or ", "return ", {"count", "legal"}),
            ("sorted(self.claims)", "list(self.claims)", {"count", "legal"}),
            ('{"unsupported": True}', '{"digest": 7}', {"digest", "count"}),
        ],
        2,
    ),
)
def test_a_wrong_engine_is_found(right: str, wrong: str, kinds: set[str], tmp_path: Path) -> None:
    code = NAIVE.read_text()
    assert right in code
    (tmp_path / "engine.py").write_text(code.replace(right, wrong))
    found, told = compared(
        tmp_path / "engine.py", "--game", "kingdomino", "--most", "30", arguments=shlex.quote(str(DOMINOES))
    )
    assert found == 3
    assert kinds <= {str(each["kind"]) for each in told if each["differences"]}


def test_differences_are_told_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(NAIVE.read_text().replace("area * crowns", "area + crowns"))
    engine = f"exec:{shlex.join([sys.executable, str(tmp_path / 'engine.py'), str(DOMINOES)])}"
    done = referee("vectors", "check", "--engine", engine, "--game", "kingdomino", "--most", "1")
    assert done.returncode == 3
    assert re.search(r"^kingdomino, score, games \S+: \(.*\); expected \(", done.stdout, re.MULTILINE)
    assert "more differ" in done.stdout


def test_an_engine_that_fails_is_told_of() -> None:
    for words, code, said in (
        (["--engine", "exec:false"], 1, "the engine failed: exec:false ended with exit code 1"),
        (["--engine", "exec:./nowhere"], 2, "no engine"),
        (["--engine", "./engine"], 2, "expected exec:COMMAND"),
        (["--engine", "exec:false", "--game", "chess"], 2, "--game chess: expected one of alhambra"),
    ):
        done = referee("vectors", "check", *words)
        assert (done.returncode, done.stdout) == (code, "")
        assert said in done.stderr


def test_an_engine_that_answers_nothing_does_not_agree(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(
        "import sys\nfor line in sys.stdin:\n    print('{\"unsupported\":true}', flush=True)\n"
    )
    engine = f"exec:{shlex.join([sys.executable, str(tmp_path / 'engine.py')])}"
    done = referee("vectors", "check", "--engine", engine, "--game", "kingdomino", "--most", "1")
    assert done.returncode == 1
    assert "the engine answered no question: nothing was compared" in done.stderr


def one(kind: str) -> Question:
    """Return a question of this kind."""
    return next(question for question in questions("kingdomino", 1) if question.kind == kind)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_the_forms_of_answers(kind: str) -> None:
    question = one(kind)
    assert question.found({"unsupported": True}) is None
    values: list[Any] = [None, [["teleport"]], [1.5], 7, True, {}]
    right: dict[str, Any] = {"legal": [], "score": [0, 0], "digest": ""}
    wrong_ones: list[dict[str, Any]] = [{}, {"other": 1}, *({kind: value} for value in values)]
    wrong_ones.append({kind: right[kind], "other": 1})
    for wrong in wrong_ones:
        with pytest.raises(BadAnswer, match=r"^(a|an|64|moves) "):
            question.found(wrong)


def test_moves_are_compared_whatever_their_order() -> None:
    question = one("legal")
    said = [["castle", f"{x},{y}"] for y in range(5) for x in range(5)]
    assert question.found({"legal": said}) == question.expected
    assert question.found({"legal": said[:-1]}) != question.expected != question.found({"legal": [*said, said[0]]})
    assert question.point is not None
    assert counting("kingdomino").move_of(("castle", "0,0"), question.point.state) in question.expected
