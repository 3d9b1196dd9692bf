"""Commands of the panel "The referee": a referee is run, its games are opened, its data is kept."""
