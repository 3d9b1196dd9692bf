"""Game files for people: every entry in words, and the whole as a report."""
