"""Where entries live. ``store``, ``marks`` and ``errors`` say what a store promises, ``sqlite`` is one in a file."""
