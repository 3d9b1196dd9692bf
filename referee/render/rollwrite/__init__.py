"""Roll & Write on paper: a seat's sheet as text or SVG, a position as text."""

from __future__ import annotations

from referee.render.rollwrite.grid import text
from referee.render.rollwrite.picture import pieces, seat_svg
from referee.render.rollwrite.position import boards_text, position_text

__all__ = ["boards_text", "pieces", "position_text", "seat_svg", "text"]
