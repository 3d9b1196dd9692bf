"""The signed, replayable move log: its signatures, hashes, files and checks."""
