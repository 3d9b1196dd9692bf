"""The longest wall that a set of Alhambra's tiles can make, found and proven."""

from solver.alhambra.walls.refutation import Refutation, refutation
from solver.alhambra.walls.search import Wall, longest_wall

__all__ = ["Refutation", "Wall", "longest_wall", "refutation"]
