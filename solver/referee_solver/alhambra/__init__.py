"""Proofs and searches for Alhambra, from its rule texts. Z3 decides; ``certificate`` checks without it."""
