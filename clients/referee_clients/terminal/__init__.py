"""Programs for terminals: a seat, an arbiter, the desk, tournaments, and the demos."""
