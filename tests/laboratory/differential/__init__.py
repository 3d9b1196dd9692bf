"""The engine of a game against the solver, verdict by verdict: a module a game, and the program that runs them."""
