"""Commands of the panel "Arbiters"."""
