"""The check of a bot: scripted games at a referee of its own, rare positions, and faults of the network."""
