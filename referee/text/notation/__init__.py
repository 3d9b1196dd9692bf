"""Moves, positions and questions in words that people and small programs write. Strict: nothing is guessed."""
