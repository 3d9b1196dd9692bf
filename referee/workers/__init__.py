"""Worker processes: they answer questions, and may be killed at any time."""
