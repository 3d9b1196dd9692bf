"""The registry, a game's package and its codecs and proofs list the same versions of its rules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import referee.games
from referee.games import registry
from referee.games.game import UnknownRules

FOLDER = Path(referee.games.__file__).parent


def listed(rules_id: str) -> dict[str, tuple[int, ...]]:
    """Return the versions by the place that lists them; a game without proofs has no place for those."""
    package = registry.part("referee.games", rules_id)
    found = {
        "registry": registry._VERSIONS[rules_id],
        "package": tuple(game.version for game in getattr(package, "VERSIONS", (package.GAME,))),
        "codecs": tuple(registry.part("referee.wire", rules_id).CODECS),
    }
    try:
        proofs: Mapping[int, object] = registry.part("referee.wire.certificates", rules_id, "provable").PROVABLE
    except UnknownRules:
        return found
    return {**found, "proofs": tuple(proofs)}


def test_every_package_of_a_game_is_registered() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/__init__.py")} == set(registry.names())


@pytest.mark.parametrize("rules_id", registry.names())
def test_a_version_is_in_every_place(rules_id: str) -> None:
    places = listed(rules_id)
    assert set(places.values()) == {registry._VERSIONS[rules_id]}, places
    game = registry.get(rules_id)
    assert (game.rules_id, game.version) == (rules_id, max(places["registry"]))


@pytest.mark.parametrize("place", ["registry", "package", "codecs", "proofs"])
def test_a_version_that_one_place_lacks_is_found(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package, wire = registry.part("referee.games", "alhambra"), registry.part("referee.wire", "alhambra")
    provable = registry.part("referee.wire.certificates", "alhambra", "provable")
    match place:
        case "registry":
            monkeypatch.setattr(registry, "_VERSIONS", {**registry._VERSIONS, "alhambra": (2,)})
        case "package":
            monkeypatch.setattr(package, "VERSIONS", package.VERSIONS[1:])
        case "codecs":
            monkeypatch.setattr(wire, "CODECS", {2: wire.CODECS[2]})
        case _:
            monkeypatch.setattr(provable, "PROVABLE", {2: provable.PROVABLE[2]})
    places = listed("alhambra")
    assert [name for name, versions in places.items() if versions == (2,)] == [place]
