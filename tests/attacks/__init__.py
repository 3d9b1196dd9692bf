"""Attacks on the log, each a named case: what the attacker does, and what it must come to."""
