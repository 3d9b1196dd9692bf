"""Roll & Write on paper: a seat's sheet as text or SVG, a position as text."""

from __future__ import annotations

from referee.text.render.rollwrite.grid import text
from referee.text.render.rollwrite.picture import components, pieces, seat_svg
from referee.text.render.rollwrite.position import boards_text, position_text

__all__ = ["boards_text", "components", "pieces", "position_text", "seat_svg", "text"]
