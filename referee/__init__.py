"""Tile Referee: deals tile games, judges every move and keeps a log anyone can verify."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from tile_referee_compiled import SOURCES  # type: ignore[import-not-found]
except ModuleNotFoundError:
    pass  # as almost everywhere
else:
    from referee.core import check

    check(SOURCES)

__version__: str

if not TYPE_CHECKING:  # or any name would do

    def __getattr__(name: str) -> str:
        """Return ``__version__``; every process would pay for the look-up, a third of a worker's start."""
        if name != "__version__":
            raise AttributeError(name)
        from importlib.metadata import version  # noqa: PLC0415 - see above

        return version("tile-referee")
