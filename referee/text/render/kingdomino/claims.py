"""What claims about Kingdomino's rules of placement are about, as text."""

from __future__ import annotations

from collections.abc import Iterable

from referee.games.kingdomino.dominoes import DOMINOES, domino_set
from referee.games.kingdomino.kingdom import Kingdom
from referee.text.render.kingdomino.boxes import text
from referee.wire.certificates.kingdomino.claims import CASTLE, Claim, Frame, Placed, PlacementClaim


def pictures(about: Claim, *, ascii_only: bool = False) -> list[str]:
    """Return the kingdom, with the placement where its cells are free and near. Ends in a newline."""
    kingdom = about.kingdom
    shown = kingdom.dominoes
    if isinstance(about, PlacementClaim):
        cells = (about.placed.left, about.placed.right)
        is_near = all(abs(at) <= kingdom.frame.size for cell in cells for at in cell)
        if is_near and cells[0] != cells[1] and not {CASTLE, *kingdom.squares()} & {*cells}:
            shown = (*shown, about.placed)
    return [picture(kingdom.frame, shown, ascii_only=ascii_only)]


def picture(frame: Frame, dominoes: Iterable[Placed], *, ascii_only: bool = False) -> str:
    """Draw a kingdom in boxes."""
    halves = {placed.domino.number: placed.domino for placed in dominoes}
    known = domino_set(tuple(halves.get(domino.number, domino) for domino in DOMINOES))
    return text(board(frame, dominoes), known, ascii_only=ascii_only)


def board(frame: Frame, dominoes: Iterable[Placed]) -> Kingdom:
    """Return the engine's kingdom, for pictures."""
    found = Kingdom(frame.size, frame.castle)
    for placed in dominoes:
        found = found.placed(placed.domino, placed.left, placed.right)
    return found
