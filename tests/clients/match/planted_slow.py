"""A bot that takes long to be imported."""

from __future__ import annotations

import time

from tests.clients.match.planted import START_S
from tests.clients.match.planted import Good as Bot

__all__ = ["Bot"]

time.sleep(START_S)
