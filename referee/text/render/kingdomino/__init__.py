"""Kingdomino on paper: a kingdom as text or SVG, a position as text."""

from __future__ import annotations

from referee.text.render.kingdomino.boxes import text
from referee.text.render.kingdomino.picture import components, pieces, seat_svg, svg
from referee.text.render.kingdomino.position import boards_text, position_text

__all__ = ["boards_text", "components", "pieces", "position_text", "seat_svg", "svg", "text"]
