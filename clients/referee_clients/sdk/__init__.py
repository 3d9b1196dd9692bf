"""A seat at the referee's table: connection, keys, signatures and checks, so that a bot is only its ``choose``."""
