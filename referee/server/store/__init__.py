"""The storage of entries. ``store``, ``marks`` and ``nodes`` say what a store promises; SQLite and PostgreSQL keep
it."""
