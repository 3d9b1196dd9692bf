"""Every registered game is made of the same modules, and each has in it what is looked for there."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from referee.games import registry

ANATOMY = {
    "catalogue": ("CATALOGUE",),
    "chance": ("outcomes",),
    "check": ("violations",),
    "dealer": ("Dealer",),
    "encoding": ("encode",),
    "listing": ("legal_moves", "stand_in"),
    "moves": ("Move", "Outcome", "Event"),
    "options": ("Options", "MIN_SEATS", "MAX_SEATS"),
    "phases": ("Phase", "CHANCE_KINDS"),
    "position": ("Position",),
    "scoring": (),
    "state": ("State",),
}
"""The modules of a game, and what every game has in them."""

METHODS = {
    "check": "check.violations",
    "legal_moves": "listing.legal_moves",
    "stand_in": "listing.stand_in",
    "chance_outcomes": "chance.outcomes",
    "encode": "encoding.encode",
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
    package = tmp_path / "game_without_a_dealer"
    package.mkdir()
    for module in ("__init__", *ANATOMY):
        (package / f"{module}.py").touch()
    (package / "dealer.py").unlink()
    monkeypatch.syspath_prepend(tmp_path)
    assert missing(package.name) == ["dealer"]


@pytest.mark.parametrize("rules_id", registry.names())
def test_a_state_is_a_position_with_functions_of_the_other_modules(rules_id: str) -> None:
    package = f"referee.games.{rules_id}"
    state = import_module(f"{package}.state").State
    assert issubclass(state, import_module(f"{package}.position").Position)
    for method, function in METHODS.items():
        module, name = function.split(".")
        assert vars(state)[method] is getattr(import_module(f"{package}.{module}"), name), method


def test_their_imports_are_linted() -> None:
    """The contract names every game and orders every module."""
    settings = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (contract,) = [each for each in settings if each["name"] == "Every game has the same anatomy"]
    assert contract["containers"] == [f"referee.games.{rules_id}" for rules_id in registry.names()]
    assert sorted(module for layer in contract["layers"] for module in re.split(r" \| ", layer)) == sorted(ANATOMY)
