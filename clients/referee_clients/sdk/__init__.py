"""The player's side of a referee: connection, keys, signatures and checks, so that a bot is only its ``choose``."""
