"""Commands of the panel "The solver"."""
