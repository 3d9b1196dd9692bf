"""Measurements, not tests: ``make bench``. Every figure is a median; what matters are the ratios of one run."""
