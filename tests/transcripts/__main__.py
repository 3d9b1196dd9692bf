"""Writes the transcripts anew: ``python -m tests.transcripts``. ``git diff`` shows what changed in the rules."""

from __future__ import annotations

from referee.log.vectors.transcripts import TRANSCRIPTS, text_of
from tests.transcripts import HERE, path_of


def main() -> None:
    """All of them; what is no longer one is taken away."""
    for left in set(HERE.glob("*.txt")) - {path_of(transcript) for transcript in TRANSCRIPTS}:
        left.unlink()
    for transcript in TRANSCRIPTS:
        text = text_of(transcript)
        path_of(transcript).write_text(text, encoding="utf-8")
        print(f"wrote {path_of(transcript).name}, {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
