"""Commands of the panel "Bots and engines of your own"."""
