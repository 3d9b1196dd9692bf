"""Commands of the panel "Games and their logs": game files are fetched, shown and checked."""
