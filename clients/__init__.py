"""Players and tools that talk to the referee over the network."""
