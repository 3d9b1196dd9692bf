"""Build the documentation as a site: ``make docs-site``. It needs no network, and its pages ask no other host.

The site has the same folders as the checkout, so a link between two documents is right in both. A broken link or anchor
ends the build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import referee as program

ROOT: Final = Path(__file__).parent.parent
SITE: Final = ROOT / "build" / "site"
SOURCE: Final = ROOT / "build" / "site-source"
CONFIG: Final = ROOT / "zensical.toml"
BESIDE: Final = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "clients/js/README.md",
    "clients/verify-js/README.md",
)
"""Documents that do not lie in docs."""
_KINDS: Final = frozenset({".md", ".svg", ".png", ".json", ".toml", ".py", ".yaml", ".yml"})
_DEPLOY: Final = ROOT / "docs" / "deploy"
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


def main() -> None:
    """Build the site of this version, beside those of others in the same folder."""
    version = ".".join(program.__version__.split(".")[:2])
    collect(SOURCE)
    built = SITE / version
    shutil.rmtree(built, ignore_errors=True)
    shutil.copy(CONFIG, SOURCE.parent / CONFIG.name)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "clients", ROOT / "solver")))}
    words = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(SOURCE.parent / CONFIG.name)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(_COLOUR.sub("", done.stdout + done.stderr))
    shutil.move(SOURCE.parent / "site-built", built)
    versions = sorted(path.name for path in SITE.iterdir() if path.is_dir())
    told = [
        {"version": each, "title": each, "aliases": ["latest"] if each == versions[-1] else []} for each in versions
    ]
    (SITE / "versions.json").write_text(json.dumps(told), encoding="utf-8")
    (SITE / "index.html").write_text(
        f'<!doctype html><title>Tile Referee</title><meta http-equiv="refresh" content="0; url={versions[-1]}/">',
        encoding="utf-8",
    )
    print(f"wrote {built.relative_to(ROOT)}")


def collect(place: Path) -> None:
    """Copy all documents to a folder, each where it lies in the checkout."""
    shutil.rmtree(place, ignore_errors=True)
    files = [ROOT / name for name in BESIDE]
    files += [path for path in sorted((ROOT / "docs").rglob("*")) if path.suffix in _KINDS or _is_deployed(path)]
    for path in files:
        copy = place / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)


def _is_deployed(path: Path) -> bool:
    """Return whether this is one of the files that operators copy, whatever its name; not a secret of theirs."""
    return path.is_file() and path.is_relative_to(_DEPLOY) and "secrets" not in path.parts


def pages() -> list[str]:
    """Return the pages of the site that the navigation has to name, as it names them."""
    docs = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
    return sorted([*BESIDE, *docs])


def navigation() -> list[str]:
    """Return the pages that the navigation names, in its order."""
    return list(_named(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]))


def _named(items: Any) -> Iterator[str]:
    for item in items:
        if isinstance(item, str):
            yield item
        else:
            for value in item.values():
                yield from [value] if isinstance(value, str) else _named(value)


if __name__ == "__main__":
    main()
