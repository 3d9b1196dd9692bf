"""Commands of the panel "Playing": a seat is taken, and turns to the table."""
