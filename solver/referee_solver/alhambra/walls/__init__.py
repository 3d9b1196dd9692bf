"""The longest wall that a set of Alhambra's tiles can make, found and proven."""

from referee_solver.alhambra.walls.proofs import refutation
from referee_solver.alhambra.walls.search import Wall, longest_wall

__all__ = ["Wall", "longest_wall", "refutation"]
