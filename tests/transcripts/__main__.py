"""Writes the transcripts anew: ``python -m tests.transcripts``. ``git diff`` shows what changed in the rules."""

from __future__ import annotations

from tests.transcripts.games import HERE, TRANSCRIPTS, text_of


def main() -> None:
    """All of them; what is no longer one is taken away."""
    for left in set(HERE.glob("*.txt")) - {transcript.path for transcript in TRANSCRIPTS}:
        left.unlink()
    for transcript in TRANSCRIPTS:
        text = text_of(transcript)
        transcript.path.write_text(text, encoding="utf-8")
        print(f"wrote {transcript.path.name}, {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
