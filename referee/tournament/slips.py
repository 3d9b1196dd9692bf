"""Result slips of a round: one for each table, several on a sheet of A4, to be cut apart, filled in and brought back.

Each has a code that a phone or a scanner reads: it leads to where the table's result is entered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import segno
from markupsafe import Markup

from referee.tournament.names import Names
from referee.tournament.rules.round import Round
from referee.tournament.typed import slip_code

_QUIET: Final = 4
"""White modules around a code, without which phones do not find it."""


@dataclass(frozen=True, slots=True)
class Slip:
    """One table's."""

    title: str
    round: int
    table: int
    seats: Sequence[tuple[int, str]]
    """Number and name of each player, in the order of the seats."""
    code: str
    """What the drawing says."""

    @property
    def drawing(self) -> Markup:
        """Return the code as a QR code: an SVG drawing. A seventh of it may be hidden by a crease (level M)."""
        made = segno.make_qr(self.code, error="m")
        # No text is drawn, only modules.
        return Markup(made.svg_inline(border=_QUIET, omitsize=True, svgclass=None, lineclass=None))  # noqa: S704


def slips(round_: Round, names: Names, title: str, event_id: int, web: str) -> list[Slip]:
    """Return the slips of a round. ``web``: the address of the pages on which results are entered; empty: none."""
    return [
        Slip(
            title,
            round_.number,
            number,
            [(who, names[who] if who in names.people else "") for who in table],
            slip_code(event_id, round_.number, number, web),
        )
        for number, table in enumerate(round_.tables, 1)
    ]
