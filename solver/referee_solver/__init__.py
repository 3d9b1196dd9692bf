"""Solvers for the games the referee judges."""
