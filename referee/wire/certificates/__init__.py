"""The claims about a game that can be proved, and the checkers of the proofs: a check needs no solver."""
