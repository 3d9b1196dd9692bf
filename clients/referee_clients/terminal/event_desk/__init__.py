"""The desk of an event: entrants, tables, results and standings on one screen, entered with the keyboard alone."""
