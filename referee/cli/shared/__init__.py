"""Helpers that commands of several panels share; no command is in here."""
