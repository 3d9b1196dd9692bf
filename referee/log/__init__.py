"""The signed, replayable move log: what is signed, hashed, kept and checked."""
