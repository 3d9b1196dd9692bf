"""Pairings."""
