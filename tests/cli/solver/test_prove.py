"""``referee prove`` as programs run it: a process that reads claims and writes verdicts with certificates."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import REFEREE
from tests.cli.inside import referee
from tests.cli.prove import FIELDS, lines, prove
from tests.games.layouts import engine_layout, random_boards
from tests.sizes import campaign
from tests.text.notation.questions import TILE_SET, ask, names
from tests.waiting import MOST_S

LAYOUT = {"0,-1": "pavilion-2-NEW"}
LEGAL = {"game": "alhambra", "layout": LAYOUT, "action": {"place": "tower-8-NES", "at": [1, 0]}}
ILLEGAL = {"game": "alhambra", "layout": LAYOUT, "action": {"place": "tower-12", "at": [1, -1]}}


def test_the_forms_of_answers() -> None:
    legal, illegal = prove([LEGAL, {"id": 7, **ILLEGAL}])
    assert list(legal) == FIELDS
    assert list(illegal) == ["id", *FIELDS]
    assert (legal["verdict"], legal["rules"], legal["reasons"]) == ("legal", [], [])
    assert (illegal["id"], illegal["verdict"], illegal["rules"]) == (7, "illegal", ["ALH-A2", "ALH-A4"])
    assert illegal["reasons"][0].startswith("ALH-A2 at ")
    assert "Where two tiles touch by a side" in illegal["reasons"][0]
    assert illegal["core"]
    assert base64.b64decode(legal["certificate"], validate=True)
    assert legal["ms"] > 0


@pytest.mark.parametrize("boards", [slice(1, 2), campaign(slice(3))], ids=["a small one", "all"])
def test_verdicts_are_those_of_inspect(boards: slice) -> None:
    """Every cell around a layout, every removal, every swap: two implementations that share no rule."""
    questions, expected = [], []
    for number, board in enumerate(random_boards("prove", 3)[boards]):
        layout = engine_layout(board)
        tile = next(name for name in TILE_SET.names[number:] if TILE_SET.numbers[name] not in layout.tiles.values())
        found = ask(layout=names(layout), tile=tile)
        xs, ys = [x for x, _ in [(0, 0), *layout.cells()]], [y for _, y in [(0, 0), *layout.cells()]]
        for x in range(min(xs) - 1, max(xs) + 2):
            for y in range(min(ys) - 1, max(ys) + 2):
                questions.append({"layout": names(layout), "action": {"place": tile, "at": [x, y]}})
                expected.append([x, y] in found["placements"])
        for cell in layout.cells():
            questions.append({"layout": names(layout), "action": {"remove": [*cell]}})
            expected.append([*cell] in found["removable"])
            questions.append({"layout": names(layout), "action": {"swap": tile, "at": [*cell]}})
            expected.append([*cell] in found["swappable"])
    answers = prove([{"game": "alhambra", **question} for question in questions])
    assert [answer["verdict"] == "legal" for answer in answers] == expected
    assert any(expected)
    assert not all(expected)


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"layout": {}, "turn": {"bought": ["tower-12"], "moves": [{"place": "tower-12", "at": [1, 0]}]}}, "legal"),
    ({"layout": {}, "turn": {"bought": ["tower-12"], "moves": []}}, "illegal"),
    ({"layout": {}, "no_placement": "tower-12"}, "fails"),
    ({"distance": {"start": {}, "reserve": ["tower-12"], "goal": {"1,0": "tower-12"}, "turns": 1}}, "holds"),
    ({"distance": {"start": {}, "reserve": ["tower-12"], "goal": {"1,0": "tower-12"}, "turns": 2}}, "fails"),
    (
        {
            "hand_out": {
                "hands": [["denar-3"], ["denar-2"]],
                "slots": [{"currency": "denar", "tile": "tower-12", "seat": 0}],
            }
        },
        "holds",
    ),
    (
        {
            "hand_out": {
                "hands": [["denar-3"], ["denar-2"]],
                "slots": [{"currency": "denar", "tile": "tower-12", "seat": 1}],
            }
        },
        "fails",
    ),
]


def test_the_other_claims() -> None:
    answers = prove([{"game": "alhambra", **question} for question, _ in OTHERS])
    assert [answer["verdict"] for answer in answers] == [verdict for _, verdict in OTHERS]
    assert all(answer["certificate"] for answer in answers)


def test_certificates_are_checked_without_a_solver(tmp_path: Path) -> None:
    questions = [LEGAL, ILLEGAL, *({"game": "alhambra", **question} for question, _ in OTHERS)]
    file = tmp_path / "answers.jsonl"
    answers = prove(questions)
    file.write_text(lines(answers))
    done = subprocess.run(
        [sys.executable, "-X", "importtime", REFEREE, "prove", "--check", file],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "referee.wire.certificates.alhambra.certificate" in imported
    assert "z3" not in imported
    checked = [json.loads(line) for line in done.stdout.splitlines()]
    for question, answer, found in zip(questions, answers, checked, strict=True):
        for field in ("verdict", "rules", "reasons"):
            assert found[field] == answer[field]
        # The certificate has the parts that the question leaves out.
        if "action" in question:
            assert found["claim"] == question


def test_one_certificate_as_bytes_or_as_base64(tmp_path: Path) -> None:
    (answer,) = prove([ILLEGAL])
    data = base64.b64decode(answer["certificate"])
    expected = '"verdict":"illegal","rules":["ALH-A2","ALH-A4"]'
    for name, content in (
        ("bytes", data),
        ("text", base64.b64encode(data)),
        ("wrapped", base64.encodebytes(data).replace(b"\n", b"\r\n")),
    ):
        file = tmp_path / name
        file.write_bytes(content)
        done = referee("prove", "--check", file)
        assert (done.returncode, done.stderr) == (0, "")
        assert expected in done.stdout
        assert done.stdout.count("\n") == 1


def test_a_certificate_that_was_changed_is_refused_or_about_something_else() -> None:
    (answer,) = prove([ILLEGAL])
    data = base64.b64decode(answer["certificate"])
    changed = []
    for bit in range(8 * len(data)):
        copy = bytearray(data)
        copy[bit // 8] ^= 1 << bit % 8
        changed.append({"certificate": base64.b64encode(copy).decode()})
    done = referee("prove", "--check", stdin=lines(changed))
    assert (done.returncode, done.stderr) == (1, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(changed)
    refused = [number for number, each in enumerate(found, 1) if "error" in each]
    assert refused == [each["line"] for each in found if "error" in each]
    assert len(refused) > len(changed) / 2
    assert ILLEGAL not in [each["claim"] for each in found if "claim" in each]


def test_what_has_no_certificate() -> None:
    cases = [
        ('{"certificate":null}', "certificate: null; expected base64"),
        ('{"certificate":"?"}', 'certificate: "?"; expected base64'),
        ('{"error":"x","line":3}', "certificate: null; expected base64"),
        ('{"certificate":"AA"', "line: not JSON"),
    ]
    done = referee("prove", "--check", stdin="\n".join(line for line, _ in cases))
    assert (done.returncode, done.stderr) == (1, "")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for number, (_, message) in enumerate(cases):
        assert found[number]["error"].startswith(message)
        assert found[number]["line"] == number + 1
    for content, message in (
        ("", "certificate: empty"),
        ("nonsense!", "certificate: "),
        ("A" * 1_048_577, "certificate: longer"),
    ):
        done = referee("prove", "--check", stdin=content)
        assert (done.returncode, done.stderr) == (1, "")
        assert json.loads(done.stdout)["error"].startswith(message)


HOSTILE: list[tuple[str, str]] = [
    ("", "line: empty"),
    ("[" * 100_000, "line: longer than 65536 bytes"),
    ("[" * 60_000, "line: nested too deeply"),
    ('{"a":' * 10_000, "line: nested too deeply"),
    ('{"game":"alhambra","layout":NaN}', "NaN is not JSON"),
    ('{"game":"alhambra","action":{"remove":[1e999,0]}}', "number 1e999 is too large"),
    ('{"game":"alhambra","action":{"remove":[' + "9" * 5000 + ",0]}}", "line: a number with too many digits"),
    ('{"game":"alhambra","game":"alhambra"}', 'duplicate key "game"'),
    ('{"game":"alhambra","layout":{"1,0":"tower-12","1,0":"tower-11"}}', 'duplicate key "1,0"'),
    ('{"game":"chess"}', 'game: "chess"; expected "alhambra"'),
    ('{"game":"alhambra"}', "claim: none; expected exactly one of"),
    ('{"game":"alhambra","id":[],"action":{"remove":[1,0]}}', "id: []; expected"),
    ('{"game":"alhambra","action":{"remove":[1,0],"at":[1,0]}}', 'action: unknown field "at"'),
    ('{"game":"alhambra","layout":{"2,2":"tower-12"},"action":{"remove":[2,2]}}', "layout: breaks ALH-A3"),
    (
        '{"game":"alhambra","layout":{"0,-1":"tower-12"},"action":{"place":"tower-12","at":[1,0]}}',
        "layout: tile tower-12 twice",
    ),
    ('"\\ud800"', "line: "),
    ("\x00", "line: not JSON"),
]


def test_whatever_a_line_has_the_next_one_is_answered() -> None:
    text = "".join(f"{line}\n{json.dumps(LEGAL)}\n" for line, _ in HOSTILE)
    done = referee("prove", "--strict", stdin=text)
    assert (done.returncode, done.stderr) == (1, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 2 * len(HOSTILE)
    for number, (line, message) in enumerate(HOSTILE):
        found = answers[2 * number]
        assert list(found) == ["error", "line"], line[:80]
        assert found["error"].startswith(message)
        assert found["line"] == 2 * number + 1
        assert answers[2 * number + 1]["verdict"] == "legal"


def test_a_budget_that_runs_out_is_an_answer() -> None:
    undecided, broken = prove([LEGAL, {**LEGAL, "layout": {"5,5": "tower-12"}}], "--rlimit", "1")
    assert {**undecided, "ms": 0} == {
        "verdict": "undecided",
        "rules": [],
        "reasons": [],
        "core": [],
        "certificate": None,
        "ms": 0,
    }
    assert "layout: breaks ALH-A3" in broken["error"]


def test_the_files_say_what_they_should(tmp_path: Path) -> None:
    """By the solver's own command, which reads text and knows nothing of ours."""
    folder = tmp_path / "not" / "there"
    answers = prove([LEGAL, ILLEGAL], "--smt-lib", folder)
    found = {name: verdict for answer in answers for name, verdict in answer["smt_lib"].items()}
    assert sorted(found) == sorted(path.name for path in folder.iterdir())
    assert {name.split("-")[1] for name in found} == {"1", "2"}
    z3 = shutil.which("z3", path=Path(sys.executable).parent)
    assert z3 is not None
    for name, expected in found.items():
        done = subprocess.run([z3, folder / name], capture_output=True, text=True, check=False)
        assert done.stdout.split()[0] == expected


def test_for_people() -> None:
    done = referee("prove", "--text", stdin=lines([ILLEGAL, "x", OTHERS[3][0] | {"game": "alhambra"}]))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("line 1: place tower-12 1,-1: illegal\nALH-A2 at ")
    assert "┃ pav ┃ tow │" in done.stdout
    assert 'line 2: line: "x"; expected an object\n' in done.stdout
    assert "line 3: 1 rebuild turn to the goal, and not fewer: holds\n" in done.stdout


def test_every_line_is_answered_while_the_program_waits() -> None:
    with subprocess.Popen([REFEREE, "prove"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(MOST_S, process.kill)  # instead of hanging for ever
        watchdog.start()
        question = lines([LEGAL]).encode()
        for _ in range(3):
            process.stdin.write(question[:20])
            process.stdin.flush()
            process.stdin.write(question[20:])
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == "legal"
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait() == 0
        watchdog.cancel()


def test_a_reader_that_goes_away_is_no_failure() -> None:
    with subprocess.Popen(
        [REFEREE, "prove"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(lines([LEGAL] * 3).encode())
        assert (process.returncode, errors) == (0, b"")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (["--check", "nowhere"], "nowhere: No such file or directory"),
        (["."], ".: Is a directory"),
        (["--rlimit", "0"], "--rlimit"),
        (["--check", "--rlimit", "5"], "--check asks no solver; expected neither --rlimit nor --smt-lib with it"),
        (["--bogus"], "--bogus"),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(words: list[str], message: str) -> None:
    done = referee("prove", *words, stdin="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("referee: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = referee("prove", "--smt-lib", tmp_path / "file", stdin=lines([LEGAL]))
    assert done.returncode == 2
    assert done.stderr.startswith(f"referee: --smt-lib {tmp_path / 'file'}")
    assert done.stderr.count("\n") == 1


def test_help_shows_its_examples_and_they_are_answered() -> None:
    done = referee("prove", "--help", env={"COLUMNS": "200"})
    shown = "".join(line.strip() for line in done.stdout.splitlines())
    questions, start = [], shown.find('{"game"')
    while start >= 0:
        question, length = json.JSONDecoder().raw_decode(shown[start:])
        questions.append(question)
        start = shown.find('{"game"', start + length)
    assert len(questions) == 9
    assert not [answer for answer in prove(questions) if "error" in answer]
