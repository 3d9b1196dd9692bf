"""Commands of the panel "Tournaments"."""
