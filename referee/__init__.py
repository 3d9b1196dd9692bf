"""Tile Referee: deals tile games, judges every move and keeps a log anyone can verify."""

from importlib.metadata import version

__version__ = version("tile-referee")
