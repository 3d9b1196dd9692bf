"""The catalogue of a rules version that games were played by is not edited: its hash stands in their headers."""

from __future__ import annotations

from referee.games import registry
from referee.log.header import rules_hash
from referee.tournament.rules import TOURNAMENT

RELEASED = {
    ("alhambra", 1): "147648619a6f8ba2d017281c5d3be1975686234403e398a1969ecf476453f1d5",
    ("alhambra", 2): "68e7a9916032bc468897acfa2a581e4581c70b6b886096458d059f1fd44097f7",
    ("event", 1): "5d9afb9735b5da971db0bb6f275dbbeb502cbf4c06335cf5d6a53fc7fb53ac1a",
    ("kingdomino", 1): "f426ea32a59753f2169f2526e4127facf95115fb299ef6b12ba8f75a9ee521e1",
    ("rollwrite", 1): "b860ad4868d85f71ab36fae2927148650eb8a05260ce2ec80f39d2fcb3f77707",
}
"""Texts and citations of a version stay; what people read beside them may change. A new version is a new line."""


def test_no_catalogue_was_edited() -> None:
    found = {
        (each.rules_id, each.version): rules_hash(each.catalogue).hex() for each in (*registry.games(), TOURNAMENT)
    }
    assert found == RELEASED
