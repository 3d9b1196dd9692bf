"""Every registered game is made of the same modules, and each has in it what is looked for there."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from tests.core import needs_source

ANATOMY = {
    "catalogue": ("CATALOGUE",),
    "chance": ("outcomes", "Dealer"),
    "check": ("violations", "legal_moves", "stand_in"),
    "moves": ("Move", "Outcome", "Event"),
    "options": ("Options", "MIN_SEATS", "MAX_SEATS"),
    "position": ("Position", "Phase", "CHANCE_KINDS"),
    "scoring": (),
    "state": ("State",),
}
"""The modules of a game, and what every game has in them."""

METHODS = {
    "check": "check.violations",
    "legal_moves": "check.legal_moves",
    "stand_in": "check.stand_in",
    "chance_outcomes": "chance.outcomes",
}
"""The methods of a state that are functions of a position."""


PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def missing(package: str) -> list[str]:
    """Return which of the modules the package lacks."""
    return [module for module in ANATOMY if find_spec(f"{package}.{module}") is None]


@pytest.mark.parametrize("rules_id", registry.names())
def test_every_game_has_the_same_modules(rules_id: str) -> None:
    package = f"referee.games.{rules_id}"
    assert missing(package) == []
    for module, names in ANATOMY.items():
        for name in names:
            assert hasattr(import_module(f"{package}.{module}"), name), (module, name)


def test_a_game_that_lacks_a_module_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "game_without_chance"
    package.mkdir()
    for module in ("__init__", *ANATOMY):
        (package / f"{module}.py").touch()
    (package / "chance.py").unlink()
    monkeypatch.syspath_prepend(tmp_path)
    assert missing(package.name) == ["chance"]


def _ask(asked: list[Any], *given: Any) -> list[Any]:
    asked.append(given)
    return asked


@needs_source
@pytest.mark.parametrize("rules_id", registry.names())
def test_a_state_is_a_position_and_its_methods_ask_the_other_modules(
    rules_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each method calls the function of its module, with the state and what it was given, and does nothing else."""
    package = f"referee.games.{rules_id}"
    state = import_module(f"{package}.state").State
    assert issubclass(state, import_module(f"{package}.position").Position)
    for method, function in METHODS.items():
        module, name = function.split(".")
        asked: list[Any] = []
        monkeypatch.setattr(import_module(f"{package}.{module}"), name, partial(_ask, asked))
        position, *given = range(len(signature(vars(state)[method]).parameters))
        assert vars(state)[method](position, *given) is asked, method
        assert asked == [(position, *given)], method


def test_their_imports_are_linted() -> None:
    """The contract names every game and orders every module."""
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = [each for each in settings if each["name"] == "Every game has the same anatomy"]
    assert contract["containers"] == [f"referee.games.{rules_id}" for rules_id in registry.names()]
    assert sorted(module for layer in contract["layers"] for module in re.split(r" \| ", layer)) == sorted(ANATOMY)
