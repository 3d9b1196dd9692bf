"""Whole games written down with all that can be seen of them, so that a change of the rules shows.

For every event: what is awaited; the position's digest; what is new in the position, after a dot what everybody sees;
legal moves, or their number and a hash of their bytes; after ``>`` the event in words; its bytes.
"""

from __future__ import annotations

from pathlib import Path

from referee.log.vectors.transcripts import Transcript

HERE = Path(__file__).parent


def path_of(transcript: Transcript) -> Path:
    """Where it is kept."""
    return HERE / f"{transcript.name}.txt"
