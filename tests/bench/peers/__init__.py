"""The referee beside another library for games of turns, on the same machine and in the same run."""
