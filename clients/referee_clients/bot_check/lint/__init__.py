"""Looks at a bot without playing: how it is imported, what it takes, whether it keeps what belongs to one game."""
