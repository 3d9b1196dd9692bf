"""A bot that fails when it is imported."""

raise RuntimeError("planted at import")
