"""Live games: each table is the only writer of its game; the house has them all. Knows no network."""
