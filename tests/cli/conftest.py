"""What a referee in this process logs is not what the command prints."""

from __future__ import annotations

from tests.service.conftest import logged

__all__ = ["logged"]
