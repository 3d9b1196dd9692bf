"""Pairs the players of a round: pure, and the same for the same situation and draw on every machine."""
