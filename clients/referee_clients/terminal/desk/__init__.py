"""The scribe's desk: a game at a physical table is entered as it goes on, in a terminal, in the games' notation."""
