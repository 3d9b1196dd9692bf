"""Commands of the panel "Games over the board"."""
