"""``referee bot-check --lint``: what it finds in bots that are wrong, and nothing in those that are right."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from referee_clients.bot_check.lint import RULES, look
from tests.cli.inside import referee
from tests.docs.shell import ROOT


def found(name: str, game: str = "kingdomino") -> dict[str, str]:
    """What is found, by its id."""
    return {each.id: each.told for each in look(name, game)}


@pytest.mark.parametrize(
    ("bot", "game", "rule", "told"),
    [
        ("Exits", "kingdomino", "imports", "it cannot be made without arguments: SystemExit: 0"),
        ("Leaves", "rollwrite", "raises", "SystemExit: 7"),
        ("NeedsArguments", "kingdomino", "imports", "it cannot be made without arguments: TypeError"),
        ("OneArgument", "kingdomino", "signature", "choose(observation: 'Any') -> 'Any' cannot be called with"),
        ("AsyncChoose", "kingdomino", "signature", "choose is async"),
        ("Beginner", "kingdomino", "signature", "begin() -> 'None' cannot be called with (table)"),
        ("RaisesAtTen", "kingdomino", "raises", "ZeroDivisionError: boom"),
        ("NoneAtFive", "alhambra", "not-a-legal-move", "None is against "),
        ("Illegal", "alhambra", "not-a-legal-move", "is against ALH-C"),
        ("Overpays", "alhambra", "not-of-the-list", "is legal, but not one of the list"),
        ("NotTheSame", "kingdomino", "not-deterministic", "random game 1, decision "),
        ("SharesItsCount", "kingdomino", "shared-state", "beside another game it chooses otherwise"),
    ],
)
def test_what_is_wrong_is_found(bot: str, game: str, rule: str, told: str) -> None:
    assert told in found(f"tests.clients.planted:{bot}", game).get(rule, "")


def test_what_looks_beyond_its_seat_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "peeks.py").write_text(
        "import gc, sys\nfrom referee.log import deck\n\n"
        "def choose(observation, legal_moves):\n    sys._getframe(1)\n    return legal_moves[0]\n"
    )
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1.1)\nfrom peeks import choose\n")
    monkeypatch.syspath_prepend(tmp_path)
    told = [each.told for each in look("peeks:choose", "kingdomino")]
    assert [each.split(":")[0] for each in told] == ["peeks.py, line 1", "peeks.py, line 2", "peeks.py, line 5"]
    assert found("slow:choose")["slow-import"].startswith("it took ")


@pytest.mark.parametrize(
    ("bot", "game"), [("random", "rollwrite"), ("greedy", "kingdomino"), ("tests.clients.planted:Honest", "alhambra")]
)
def test_nothing_is_found_in_a_bot_that_is_right(bot: str, game: str) -> None:
    assert not found(bot, game)


def test_programs_are_looked_at_as_well(tmp_path: Path) -> None:
    example = ROOT / "docs" / "examples" / "bots" / "mybot.py"
    assert not found(f"exec:{shlex.join([sys.executable, str(example)])}")
    (tmp_path / "bot.py").write_text(example.read_text().replace("json.dumps(answer)", "json.dumps({'move': 99})"))
    assert "answered" in found(f"exec:{shlex.join([sys.executable, str(tmp_path / 'bot.py')])}")["raises"]


def test_bot_lint_says_what_it_is_a_part_of() -> None:
    words = "greedy", "--game", "kingdomino"
    done = referee("bot-lint", *words)
    assert done.stderr == "bot-lint is a part of bot-check: referee bot-check BOT --game GAME --lint\n"
    assert done.stdout == referee("bot-check", *words, "--lint").stdout == "nothing was found\n"


@pytest.mark.parametrize("words", [(), ("--game", "kingdomino", "--game", "alhambra")])
def test_a_look_is_in_one_game(words: Sequence[str]) -> None:
    done = referee("bot-check", "greedy", "--lint", *words)
    assert (done.returncode, "--lint: in which game?" in done.stderr) == (2, True)


def test_a_look_makes_no_checks() -> None:
    done = referee("bot-check", "greedy", "--game", "kingdomino", "--lint", "--move-limit", "2s")
    assert (done.returncode, "--move-limit: --lint makes no checks" in done.stderr) == (2, True)


@pytest.mark.parametrize("words", [("bot-lint",), ("bot-check", "--lint")])
def test_the_command_shows_rule_and_page(words: Sequence[str]) -> None:
    done = referee(*words, "tests.clients.planted:AsyncChoose", "--game", "kingdomino")
    assert done.returncode == 3
    assert done.stdout.splitlines()[-3:] == [
        "signature: choose is async; expected a function that returns",
        f"  {RULES['signature'].rule} See docs/bots.md#what-you-get",
        "1 found",
    ]
    clean = referee(*words, "greedy", "--game", "kingdomino", "--json")
    assert (clean.returncode, json.loads(clean.stdout)["found"]) == (0, [])
    wrong = referee(*words, "greedy", "--game", "chess")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--game chess: expected one of alhambra" in wrong.stderr


@pytest.mark.parametrize(
    ("bot", "code", "said"),
    [
        ("nobody", 2, "no bot 'nobody'"),
        ("planted:NoSuchBot", 2, "module 'tests.clients.planted' has no attribute"),
        ("planted:NoSuchMethod", 2, "it has no method choose"),
        ("planted:EndsTheProcess", 1, "the bot ended the process that looked at it: exit code 0: goodbye"),
    ],
)
def test_a_bot_that_cannot_be_looked_at_is_told_of_in_one_line(bot: str, code: int, said: str) -> None:
    name = bot.replace("planted:", "tests.clients.planted:")
    done = referee("bot-lint", name, "--game", "kingdomino")
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    if code == 2:
        assert referee("bot-check", name, "--game", "kingdomino", "--only", "plays").returncode == 2


def test_every_rule_is_on_the_page() -> None:
    page = (ROOT / "docs" / "bot-check.md").read_text(encoding="utf-8")
    assert all(f"| `{rule.id}` | {rule.rule} |" in page for rule in RULES.values())
