"""A whole game from deal to verified log, with nothing to set up: ``python -m clients.demo``, or ``make demo``."""
