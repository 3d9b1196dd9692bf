"""Processes that answer questions, or do many tasks, and may be killed at any time."""
