"""A printed sheet with a card for each seat: its player, and the code with which a phone takes the seat.

One HTML file for A4 in black and white, with no scripts and nothing fetched. It holds tokens: any reader of a card can
take its seat. Knows neither the referee nor any file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from referee.text.words.catalogue import ENGLISH, load

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_FOLDER: Final = Path(__file__).parent
_QUIET: Final = 4
"""White modules around a code, without which phones do not find it."""


@dataclass(frozen=True, slots=True)
class Card:
    """A seat, as its player is invited to it."""

    rules_id: str
    seat: int
    join: str = field(repr=False)
    """The join string for programs."""
    link: str = field(default="", repr=False)
    """The link for browsers; empty if the referee is not known to have pages where seats can be played."""
    player: str = ""
    """Empty: to be written on the card."""
    event: int | None = None
    round: int | None = None
    table: int | None = None

    @property
    def code(self) -> Markup:
        """Return the link, or else the join string, as a QR code: an SVG drawing.

        Level M: a seventh of it may be hidden by a crease or a thumb. More would make the modules smaller.
        """
        # Only who prints cards installs these.
        import segno  # noqa: PLC0415
        from markupsafe import Markup  # noqa: PLC0415

        made = segno.make_qr(self.link or self.join, error="m")
        # No text is drawn, only modules.
        return Markup(made.svg_inline(border=_QUIET, omitsize=True, svgclass=None, lineclass=None))  # noqa: S704


def sheet(cards: Sequence[Card], language: str = ENGLISH) -> str:
    """Return the whole document. Raise ``UnknownLanguage``."""
    return _environment().get_template("cards.html.j2").render(cards=cards, w=load("web", language))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
