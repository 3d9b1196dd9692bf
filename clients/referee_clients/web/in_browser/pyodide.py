"""Pyodide, a Python for browsers: which files of which release are used, where they lie, whether they are those.

It is not part of this program (MPL-2.0, and larger than all the rest); an operator who wants the rules of games checked
in browsers brings it with ``make web-rules``.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Final

VERSION: Final = "314.0.7"
PACKAGE: Final = f"pyodide@{VERSION}"
"""As npm names it."""
PACKAGE_SHA512: Final = (
    "d18bd7c4485f11da4b7dbfd790cd8114078c44eab488c517d9bcf31fda4eb6dc8c716930abe1db139bb2b860fcd8b37bcb6abe48dbe2ffa5792"
    "44b0e943d91d4"
)
FILES: Final = {
    "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
}
"""SHA-256 of every file that browsers need of it."""


class BadPyodide(Exception):
    """A folder does not hold the release; the message says what is missing or different."""


def check(folder: Path) -> None:
    """Raise ``BadPyodide`` unless the folder holds the files of the release, byte for byte."""
    for name, expected in FILES.items():
        path = folder / name
        try:
            found = sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise BadPyodide(
                f"{path}: {error.strerror}; expected Pyodide {VERSION}, as make web-rules brings it"
            ) from None
        if found != expected:
            raise BadPyodide(f"{path}: not the file of Pyodide {VERSION}; expected SHA-256 {expected}, found {found}")
