"""What every picture has: paper, words for those who cannot see it, the cells of a board. Knows no game."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from referee.games.game import Cell

CELL: Final = 100
"""Side of a board's cell."""
MARGIN: Final = 46
"""Around a board: room for the numbers of its rows and columns."""
HEAD: Final = 58
"""Height of the title above a picture."""

PAPER: Final = "#f7f0e1"
INK: Final = "#3b2c20"
PALE: Final = "#a08f78"

_FONT: Final = "Georgia,'DejaVu Serif','Times New Roman',serif"
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def picture(title: str, description: str, width: int, height: int, parts: Iterable[str]) -> str:
    """Return a self-contained SVG: paper, headline and the parts; ``description`` says in words what they show."""
    title = _NOT_XML.sub("\ufffd", title)
    room = width // 19
    headline = title if len(title) <= room else title[: room - 1] + "…"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"',
        f' role="img" aria-label={quoteattr(title)} font-family="{_FONT}">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f'<rect width="{width}" height="{height}" rx="18" fill="{PAPER}"/>',
        f'<rect x="7" y="7" width="{width - 14}" height="{height - 14}" rx="13" fill="none" stroke="#d9c8a5"/>',
        words(width / 2, 46, headline, 28, bold=True),
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def cells_drawn(kind: str, drawn: Mapping[str, str]) -> str:
    """Return a symbol for each drawing of a cell, to be used as ``#kind-name``."""
    box = f'viewBox="0 0 {CELL} {CELL}"'
    return "".join(f'<symbol id="{kind}-{name}" {box}>{drawing}</symbol>\n' for name, drawing in drawn.items())


def words(x: float, y: float, said: str, size: int, *, colour: str = INK, bold: bool = False) -> str:
    """Return a line of text, centred at ``x``, its foot at ``y``."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="middle"{weight}>'
        f"{escape(said)}</text>"
    )


def numbers(columns: range, rows: range) -> Iterable[str]:
    """Yield the numbers above and beside the cells of a board."""
    top, left = rows[0] * CELL, columns[0] * CELL
    for x in columns:
        yield words(x * CELL + 50, top - 18, str(x), 17, colour=PALE)
    for y in rows:
        yield words(left - 24, y * CELL + 56, str(y), 17, colour=PALE)


def shadow(cells: Iterable[Cell]) -> str:
    """Return the shadow that the pieces on these cells throw on the paper."""
    path = "".join(f"M{x * CELL} {y * CELL}h{CELL}v{CELL}h-{CELL}z" for x, y in cells)
    return f'<path d="{path}" fill="#5b4630" fill-opacity=".28" transform="translate(5 7)"/>'
