"""Commands of the panel "The public log"."""
