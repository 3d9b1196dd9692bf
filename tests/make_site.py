"""Build the documentation as a site: ``make docs-site``. It needs no network, and its pages ask no other host.

The site has the same folders as the checkout, so a link is right in both. Files and folders that documents link to come
along. A broken link or anchor ends the build.
"""

from __future__ import annotations

import html
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
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt

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
_LINK: Final = re.compile(r'<(?:a|img|link|script)\b[^>]*\b(?:href|src)="([^"]+)"')
_NOT_BROUGHT: Final = shutil.ignore_patterns("__pycache__", "*_pb2*", "*.md")
_BLOCK: Final = re.compile(r'(<div class="[^"]*\bhighlight")>(<pre>.*?</pre>)', re.DOTALL)
_TAG: Final = re.compile(r"<[^>]*>")
_PROMPT: Final = re.compile(r"\d?\$ ")
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
    for page in built.rglob("*.html"):
        page.write_text(copied(page.read_text(encoding="utf-8")), encoding="utf-8")
    if broken := bring_linked(built):
        sys.exit("broken links:\n" + "\n".join(broken))
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
        if path.suffix == ".md":
            copy.write_text(indented(path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copy(path, copy)


def indented(document: str) -> str:
    """Return a document with four blanks for each list around a line, as Python-Markdown reads lists.

    CommonMark counts from the text after the marker, so the content of `1. ` stands under three blanks.
    """
    lines = document.splitlines()
    columns: list[list[int]] = [[] for _ in lines]
    apart = set()  # a blank line has to stand before these
    for token in MarkdownIt("commonmark").parse(document):
        if token.type == "list_item_open" and token.map:
            first, end = token.map
            start = columns[first][-1] if columns[first] else 0
            marker = re.match(r" *(?:[-*+]|\d+[.)]) +", lines[first][start:])
            assert marker is not None, lines[first]
            for inside in columns[first + 1 : end]:
                inside.append(start + marker.end())
            if not all(map(str.strip, lines[first:end])):
                apart.add(end)
    made = []
    for number, (line, inside) in enumerate(zip(lines, columns, strict=True)):
        if number in apart:
            made.append("")
        made.append(" " * 4 * len(inside) + line[inside[-1] :] if inside and line.strip() else line)
    return "\n".join(made) + "\n"


def copied(page: str) -> str:
    """Return a page whose buttons copy the commands of an example alone, without prompts and answers."""
    return _BLOCK.sub(_copied, page)


def _copied(block: re.Match[str]) -> str:
    commands, continues = [], False
    for line in html.unescape(_TAG.sub("", block[2])).splitlines():
        prompt = _PROMPT.match(line)
        if prompt or continues:
            commands.append(line[prompt.end() if prompt else 0 :])
            continues = line.endswith("\\")
    if not commands:
        return block[0]
    text = html.escape("\n".join(commands)).replace("\n", "&#10;")
    return f'{block[1]} data-copy="{text}">{block[2]}'


def bring_linked(built: Path) -> list[str]:
    """Copy files and folders to which pages link from the checkout to the site; return the links that lead nowhere."""
    broken = []
    for page in sorted(built.rglob("*.html")):
        if page.name == "404.html":  # its links are for the root of a host
            continue
        for link in sorted(set(_LINK.findall(page.read_text(encoding="utf-8")))):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc or not parts.path:
                continue
            there = Path(os.path.normpath(page.parent / unquote(parts.path)))
            found = there / "index.html" if there.is_dir() else there
            if not found.exists() and not _bring(there, built):
                broken.append(f"{page.relative_to(built)}: {link}")
    return broken


def _bring(there: Path, built: Path) -> bool:
    """Copy one file or folder from the checkout, a folder with a list of its files; return whether it exists."""
    if not there.is_relative_to(built):
        return False
    name = there.relative_to(built)
    source = ROOT / name
    if source.is_file():
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, there)
    elif source.is_dir():
        shutil.copytree(source, there, ignore=_NOT_BROUGHT, dirs_exist_ok=True)
        for folder in (there, *(path for path in there.rglob("*") if path.is_dir())):
            names = [f"{each.name}/index.html" if each.is_dir() else each.name for each in sorted(folder.iterdir())]
            items = "".join(f'<li><a href="{name}">{name.removesuffix("/index.html")}</a>' for name in names)
            title = folder.relative_to(built)
            page = f"<!doctype html><title>{title}</title><h1>{title}</h1><ul>{items}</ul>"
            (folder / "index.html").write_text(page, encoding="utf-8")
    return source.exists()


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
