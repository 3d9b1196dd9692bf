"""Tournaments: rules and encoding, which the log reads; above the log the file, check, pairing and pages."""
