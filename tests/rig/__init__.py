"""Whole games through networks that break everything, and a check of what every client was told against the log.

``python -m tests.rig`` runs it; a seed gives the same faults at the same messages, though the clock gives other turns.
"""
