"""Whole games through networks that break everything, and a check of every client's messages against the log.

``python -m tests.rig`` runs it; a seed gives the same faults at the same messages, though the clock gives other turns.
"""
