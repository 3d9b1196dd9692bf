"""Alhambra in words and as JSON."""
