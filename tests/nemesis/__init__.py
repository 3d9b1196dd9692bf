"""Faults on purpose, for several referees on one PostgreSQL; whatever they let out has to be one history."""
