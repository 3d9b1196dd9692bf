"""Live games: each is the only writer of its log; ``LiveGames`` has them all. Knows no network."""
