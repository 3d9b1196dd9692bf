"""Where entries live. ``store``, ``marks`` and ``nodes`` say what a store promises; SQLite and PostgreSQL keep it."""
