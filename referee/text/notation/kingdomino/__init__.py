"""Kingdomino in words and as JSON."""
