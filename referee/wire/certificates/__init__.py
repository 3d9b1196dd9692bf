"""What can be proved of a game, and the checkers of such proofs: whoever checks takes no solver with it."""
