"""What is wrong with a word that was given."""

from __future__ import annotations


class BadWord(Exception):
    """Not what the word may be. As text, it begins with the option of the command that has the same name."""

    def __init__(self, word: str, what: str) -> None:
        """``word``: its name, such as ``protest-time``. ``what``: what is wrong, as it follows the name: ``: …``."""
        super().__init__(f"--{word}{what}")
        self.word = word
        self.what = what
