"""Theorems about the engine of Alhambra: stated in words, proved by Z3 or by going through every case.

They are about the code that decides moves, not about a copy of its rules: see ``engine``.
"""

from __future__ import annotations

from typing import Final

from tests.laboratory.theorems import boxes, counting, everywhere, windows
from tests.laboratory.theorems.theorem import Theorem, Undecided

__all__ = ["THEOREMS", "Theorem", "Undecided"]

THEOREMS: Final[tuple[Theorem, ...]] = (*windows.THEOREMS, *everywhere.THEOREMS, *boxes.THEOREMS, *counting.THEOREMS)
