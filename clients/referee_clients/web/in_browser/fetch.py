"""``python -m referee_clients.web.in_browser.fetch DIR`` brings Pyodide into a folder; ``make web-rules`` runs it."""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha512
from pathlib import Path
from tempfile import TemporaryDirectory

from referee_clients.web.in_browser.pyodide import FILES, PACKAGE, PACKAGE_SHA512, VERSION, BadPyodide, check


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
