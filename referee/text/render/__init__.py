"""Boards as pictures and as text. Knows the games' values; reads no files and writes none."""
