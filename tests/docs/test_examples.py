"""The code in the documents works as it stands there."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import get_args

import pytest

from referee.games import registry
from referee_clients.bots import load
from referee_clients.match import play_game
from tests.cli.inside import referee

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("page", ["README.md", "docs/bots.md"])
def test_the_bot_plays(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.findall(r"```python\n# mybot\.py.*?```", (ROOT / page).read_text(), re.DOTALL)
    assert len(code) == 1
    (tmp_path / "mybot.py").write_text(code[0].removeprefix("```python\n").removesuffix("```"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mybot", raising=False)
    over = play_game([load("mybot:choose"), load("random", seed=1)], seed=3)
    assert len(over.scores) == 2


@pytest.mark.parametrize(
    ("heading", "game"),
    [("Alhambra", "alhambra"), ("Kingdomino", "kingdomino"), ("Alhambra Roll & Write", "rollwrite")],
)
def test_what_a_bot_gets_is_there(heading: str, game: str) -> None:
    """Attributes and moves of the tables in docs/bots.md; a dot at the beginning continues the one before."""
    page = (ROOT / "docs" / "bots.md").read_text()
    section = page.split(f"\n### {heading}\n")[1].split("\n#")[0]
    common = page.split("\nOf every game there are\n")[1].split("\n### ")[0]
    attributes, moves = section.split("\n| move |")
    cells = [line.split(" | ")[0] for line in (common + attributes).splitlines() if line.startswith("| `")]
    rules = registry.get(game)
    state = rules.new(rules.max_seats, None, None)
    names = re.findall(r"`([a-z_.]+)", " ".join(cells))
    assert len(names) > 12
    owner = ""
    for name in names:
        path = f"{owner}{name}" if name.startswith(".") else name
        attrgetter(path)(state)
        owner = path.rpartition(".")[0]
    module = import_module(f"referee.games.{game}.moves")
    documented = re.findall(r"`([A-Z]\w+)\(([\w, ]*)\)", moves.split("\n\n")[0])
    assert {name for name, _ in documented} == {move.__name__ for move in get_args(module.Move)}
    for name, fields in documented:
        assert [field.name for field in dataclasses.fields(getattr(module, name))] == re.findall(r"\w+", fields)


def test_the_question_is_answered_as_shown() -> None:
    question, answer = re.findall(r"echo '(\{.*\})' \| referee inspect\n\s+(\{.*\})", (ROOT / "README.md").read_text())[
        0
    ]
    assert json.loads(referee("inspect", stdin=question + "\n").stdout) == json.loads(answer)


def test_links_lead_somewhere() -> None:
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "clients/js/README.md")]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
