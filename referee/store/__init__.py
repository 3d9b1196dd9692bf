"""Where entries live. ``store`` says what any store is, ``sqlite`` is the one in a file."""
