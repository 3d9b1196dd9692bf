"""Pyodide, a Python for browsers: its release and files, their check, and their fetching.

It is not part of this program (MPL-2.0, and larger than all the rest). An operator who wants the rules of games checked
in browsers brings it with ``make web-rules``, which runs ``python -m referee_clients.web.in_browser.pyodide DIR``.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256, sha512
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

VERSION: Final = "314.0.7"
PACKAGE: Final = f"pyodide@{VERSION}"
"""The package's name at npm."""
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


class CannotFetch(Exception):
    """The package could not be had, or is another one; the message says which."""


def fetch(folder: Path) -> None:
    """Bring the release, unless it is there. Raise ``CannotFetch``, ``BadPyodide`` and ``OSError``.

    The folder is complete or as it was. Beside each file lies one that is compressed, as browsers take it.
    """
    try:
        check(folder)
    except BadPyodide:
        pass
    else:
        return
    ours = {*FILES, *(f"{name}.gz" for name in FILES)}
    if folder.exists() and not {path.name for path in folder.iterdir()} <= ours:
        raise CannotFetch(f"{folder} has other files in it; expected a folder for Pyodide alone")
    if (npm := shutil.which("npm")) is None:
        raise CannotFetch("Pyodide was not fetched: this needs npm, which comes with Node.js")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as temporary:
        place = Path(temporary)
        command = [npm, "pack", PACKAGE, "--silent", "--pack-destination", str(place)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a command of ours
        packed = next(place.glob("*.tgz"), None)
        if done.returncode or packed is None:
            why = " ".join(done.stderr.split())[-500:] or "npm pack brought no package"
            raise CannotFetch(f"Pyodide {VERSION} was not fetched: {why}")
        if (found := sha512(packed.read_bytes()).hexdigest()) != PACKAGE_SHA512:
            raise CannotFetch(f"npm brought another package than Pyodide {VERSION}: SHA-512 {found}; nothing was kept")
        made = place / "made"
        made.mkdir()
        with tarfile.open(packed) as archived:
            for name in FILES:
                member = archived.extractfile(f"package/{name}")
                if member is None:
                    raise CannotFetch(f"Pyodide {VERSION} has no {name}; nothing was kept")
                data = member.read()
                (made / name).write_bytes(data)
                # Compressed once, here, and not for every browser that asks.
                (made / f"{name}.gz").write_bytes(gzip.compress(data, mtime=0))
        check(made)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)


def main() -> None:
    """Fetch into the folder that is named, and say what is there."""
    folder = Path(sys.argv[1])
    try:
        fetch(folder)
    except (CannotFetch, BadPyodide, OSError) as error:
        sys.exit(f"make web-rules: {error}")
    size = sum(path.stat().st_size for path in folder.glob("*.gz"))
    print(f"Pyodide {VERSION} is in {folder}; a browser loads {size / 1e6:.1f} MB of it, once.")


if __name__ == "__main__":
    main()
