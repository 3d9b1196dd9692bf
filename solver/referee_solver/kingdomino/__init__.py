"""Proofs and searches for Kingdomino."""
