"""A whole game from deal to verified log, with nothing to set up: ``make demo``."""
