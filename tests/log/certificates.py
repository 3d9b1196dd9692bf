"""An engine of Alhambra that lets illegal tiles pass, and a certificate with a wrong claim."""

from __future__ import annotations

from typing import Any

from referee.games import registry as rules
from referee.games.alhambra.moves import PlaceTile
from referee.games.alhambra.position import Phase
from referee.games.alhambra.state import State
from referee.games.alhambra.tiles import tiles_of
from referee.games.game import Violation


class LenientGame:
    """An engine that forgot a rule: walls may meet open sides."""

    def __getattr__(self, name: str) -> Any:
        return getattr(rules.get("alhambra", 2), name)

    def new(self, seats: int, options: Any, components: Any) -> State:
        class Lenient(State):
            __slots__ = ()

            def check(self, event: object) -> tuple[Violation, ...]:
                return tuple(v for v in super().check(event) if v.rule_id != "ALH-A2")

        return Lenient(seats, options, components)


def slip(state: Any) -> PlaceTile | None:
    """Return a placement that breaks ALH-A2 and nothing else."""
    if state.phase is not Phase.PLACE:
        return None
    strict = State.check
    tile = tiles_of(state.tiles_in_hand())[0]
    for x, y in state.layouts[state.seat].cells():
        for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if [violation.rule_id for violation in strict(state, PlaceTile(tile, cell))] == ["ALH-A2"]:
                return PlaceTile(tile, cell)
    return None
