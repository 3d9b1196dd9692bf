"""A language whose every word is longer than the English one, for properties that future words must have as well."""

from __future__ import annotations

import json
import re
import shutil
from math import ceil
from pathlib import Path

from referee.text.words import catalogue
from referee.text.words.catalogue import Text, load

LANGUAGE = "de"
"""A language without a translation; it has English's plural forms."""
WITH_FOLDER = (
    "import sys; from pathlib import Path; from referee.text.words import catalogue; "
    "catalogue._FOLDER = Path(sys.argv.pop(1)); from referee.cli import main; main()"
)
"""The command line, with the catalogues of a folder that its first argument names."""
_LONGER = 0.4


def folder(made: Path) -> Path:
    """Return a new folder with all catalogues, and the language."""
    shutil.copytree(Path(catalogue.__file__).parent, made, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    texts = {key: _longer(text) for key, text in load("web").texts.items()}
    (made / LANGUAGE).mkdir()
    (made / LANGUAGE / "web.json").write_text(json.dumps({"_state": "draft", **texts, "site": "Tile Referee"}))
    return made


def _longer(text: Text) -> Text:
    if isinstance(text, str):
        return re.sub(r"\{\w+\}|\w+", lambda word: _stretched(word[0]), text)
    return {name: form if name == "of" else str(_longer(form)) for name, form in text.items()}


def _stretched(word: str) -> str:
    return word if word.startswith("{") else word + "e" * ceil(_LONGER * len(word))
