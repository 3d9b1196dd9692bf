"""The scribe's desk: a game at a physical table is entered as it is played, in a terminal, in the games' notation."""
