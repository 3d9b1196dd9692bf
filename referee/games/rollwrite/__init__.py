"""Alhambra Roll & Write."""
