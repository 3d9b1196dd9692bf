"""The code in the documents works as it stands there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from clients.bots import load
from clients.match import play_game
from tests.cli.command import referee

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
