"""Check of a bot: scripted games at a referee of its own, positions that are rare, and whatever a network does."""
