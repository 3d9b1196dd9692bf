"""Test vectors for other engines and verifiers: counting files, transcripts, logs good and forged."""

from __future__ import annotations

from pathlib import Path
from typing import Final

DATA: Final = Path(__file__).parent / "data"
"""The files that nothing else gives: counting files, and the vectors of docs/log-format.md."""
