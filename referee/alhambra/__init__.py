"""Alhambra on the wire: v1 is generated from proto/referee/alhambra. Its rules are in referee.games."""
