"""docs/security.md names tests and attacks that exist, every attack there is, and every verdict."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from referee.log.verdict import Verdict
from tests.attacks.everything import ATTACKS
from tests.core import needs_source

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()


@cache
def functions_of(path: Path) -> set[str]:
    """Return names of its test functions."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, kinds)}


def test_named_tests_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 50
    for path, name in named:
        assert name.startswith("test_")
        assert name in functions_of(ROOT / path), f"{path}::{name}"


@needs_source
def test_named_attacks_exist() -> None:
    named = set(re.findall(r"(?<!\*)\*([^*\n]+)\*(?!\*)", PAGE)) - {"italics"}
    assert len(named) > 50
    assert named <= set(ATTACKS), named - set(ATTACKS)


def test_every_attack_is_named() -> None:
    assert [name for name in ATTACKS if name not in PAGE] == []


def test_verdicts_are_those_of_the_audit() -> None:
    rows = re.findall(r"^\| ([A-Z_]+) \| (\d+) \|", PAGE, re.MULTILINE)
    assert rows == [(verdict.name, str(int(verdict))) for verdict in Verdict]
