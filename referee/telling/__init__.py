"""Game files told to people: what every entry says, in words, and the whole as a report."""
