"""A seat that a person plays at a terminal, on the table's screen of the desk."""
