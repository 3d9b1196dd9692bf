"""The demo as a person starts it: it ends with a log that audits COMPLETE, and whatever happens it leaves nothing."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from referee.games import registry
from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.verdict import Policy, Verdict
from tests.cli.inside import referee
from tests.clients.demo import Demo
from tests.sizes import campaign, sample_of

EVENT = (sys.executable, "-m", "referee_clients.terminal.demo.event")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    demo = Demo(tmp_path)
    yield demo
    demo.check_gone()


@pytest.mark.parametrize(
    ("game", "words", "seats", "said"),
    sample_of(
        [
            ("alhambra", (), 3, r"^ round 1\b(.|\n)*^ round 2\b(.|\n)*^ round 3\b"),
            ("kingdomino", ("--game", "kingdomino"), 3, "^points of the areas by terrain"),
            (
                *("kingdomino", ("--game", "kingdomino", "--bots", "greedy,greedy,builder,random")),
                *(4, "^3 random|   3 random"),
            ),
            ("rollwrite", ("--game", "rollwrite"), 3, "^sheet rw-default-1 .* not the printed one"),
            ("rollwrite", ("--game", "rollwrite", "--bots", "planner"), 1, "^ virtual 1 "),
        ],
        1,
    ),
)
def test_a_game_from_deal_to_verified_log(demo: Demo, game: str, words: Sequence[str], seats: int, said: str) -> None:
    process = demo.start(*words)
    told, _ = process.communicate()
    assert process.returncode == 0, told
    assert re.search(said, told, re.MULTILINE)
    assert "\nCOMPLETE\n" in told
    [log], [key] = demo.out.glob("*.gamelog"), demo.out.glob("*.vkey")
    with log.open("rb") as file:
        report = audit(file, Policy(VerifierKey.parse(key.read_text().strip())))
    assert report.verdict is Verdict.COMPLETE
    assert f"{game} version {registry.get(game).version}" in report.as_text()
    pictures = [path.read_text() for path in sorted(demo.out.glob("*.svg"))]
    assert [re.findall(r"<title>(Player \d) at the end</title>", picture) for picture in pictures] == [
        [f"Player {seat + 1}"] for seat in range(seats)
    ]


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), campaign(signal.SIGTERM, 130)])
def test_stopped_in_mid_game(demo: Demo, number: signal.Signals, code: int) -> None:
    process = demo.start()
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("turn 10"):
            process.send_signal(number)
            break
    said, _ = process.communicate()
    assert process.returncode == code, said
    assert "nothing is left running" in said


@pytest.mark.long
def test_a_child_that_fails_is_quoted(demo: Demo, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def fails(observation, legal_moves):\n    raise RuntimeError('I cannot think')\n"
    )
    process = demo.start("--bots", "mine:fails,greedy")
    said, _ = process.communicate()
    assert process.returncode == 1
    assert "mine:fails, player 1 ended with exit code 3" in said
    assert "RuntimeError: I cannot think" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bots", "alphago,greedy"), "no bot 'alphago' for alhambra: there are random, greedy, planner, sampler;"),
        (("--bots", "greedy"), "1 bot: alhambra is for 2 to 6"),
        (("--bots", ",".join(["greedy"] * 7)), "7 bots: alhambra is for 2 to 6"),
        (("--game", "kingdomino", "--bots", "planner,greedy"), "no bot 'planner' for kingdomino: there are "),
        (("--game", "chess"), "no rules 'chess': there are alhambra, kingdomino, rollwrite"),
    ],
)
def test_wrong_words(tmp_path: Path, words: Sequence[str], said: str) -> None:
    done = referee("demo", "--out", tmp_path / "out", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"referee: {said}")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_an_event_is_played_and_everything_is_complete(demo: Demo) -> None:
    """Twice, as no event is replaced."""
    for number in (1, 2):
        process = demo.start("--players", "4", "--rounds", "2", command=EVENT)
        told, _ = process.communicate()
        assert process.returncode == 0, told
        assert "2 files: 2 COMPLETE" in told
        assert "results: 2 with an audited log" in told
        assert (demo.out / f"event-{number}" / "event.eventlog").exists()


@pytest.mark.long
def test_an_event_that_cannot_be_played_says_why(demo: Demo) -> None:
    process = demo.start("--bots", "nobody", command=EVENT)
    told, _ = process.communicate()
    assert process.returncode == 1
    assert "--bots: " in told
    assert "nobody" in told
