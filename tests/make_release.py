"""Build a release from the last commit into dist: ``make release``.

The package is built twice, in two folders, the second wheel from the second sdist: a release whose bytes depend on the
machine's state ends here. Nothing is uploaded.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.metadata import Distribution, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parent.parent
DIST: Final = ROOT / "dist"
SUMS: Final = "SHA256SUMS"
_PAGE: Final = "referee_clients/web/static/verify/index.html"
_LEFT_OUT: Final = frozenset({"all", "dev"})


class Differs(Exception):
    """Two builds of the same commit have other bytes; names the files."""


def main() -> None:
    """Make all files of a release."""
    with TemporaryDirectory() as folder:
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        release(Path(folder), DIST)
    for line in (DIST / SUMS).read_text(encoding="utf-8").splitlines():
        print(line)


def release(work: Path, out: Path) -> None:
    """Make the files of the last commit's release. Raise ``Differs``."""
    if changed := _said("git", "status", "--porcelain"):
        print(f"not in the release, as it is not committed:\n{changed}", file=sys.stderr)
    epoch = _said("git", "log", "-1", "--format=%ct")
    first, second = (export(work / name) for name in ("first", "second"))
    built, again = work / "built", work / "again"
    build(first, built, "sdist", epoch)
    build(first, built, "wheel", epoch)
    build(second, again, "sdist", epoch)
    (sdist,) = again.glob("*.tar.gz")
    shutil.unpack_archive(sdist, work / "unpacked", filter="data")
    (unpacked,) = (work / "unpacked").iterdir()
    build(unpacked, again, "wheel", epoch)
    compare(built, again)
    version = tomllib.loads((first / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for file in built.iterdir():
        shutil.copy(file, out)
    (wheel,) = out.glob("*.whl")
    (out / f"tile-referee-{version}-verify.html").write_bytes(ZipFile(wheel).read(_PAGE))
    (out / f"tile-referee-{version}.cdx.json").write_text(bill(wheel, first, work / "bill", epoch), encoding="utf-8")
    # The programs of the commit, not those of the working tree: the folder comes first where modules are looked for.
    for program, made, name in (("make_site", "site", "docs"), ("make_man", "man", "man")):
        _run([sys.executable, "-m", f"tests.{program}"], first, epoch)
        pack(first / "build" / made, out / f"tile-referee-{version}-{name}.tar.gz", int(epoch))
    names = sorted(file.name for file in out.iterdir())
    sums = [f"{sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (out / SUMS).write_text("".join(sums), encoding="utf-8")


def export(to: Path) -> Path:
    """Return a folder with the files of the last commit, and nothing else."""
    to.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(to, filter="data")
    return to


def build(source: Path, out: Path, target: str, epoch: str) -> None:
    """Build an sdist or a wheel."""
    _run([sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)], source, epoch)


def _run(command: list[str], folder: Path, epoch: str) -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch, "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\n{' '.join(command[1:])} failed; see above.")


def compare(built: Path, again: Path) -> None:
    """Raise ``Differs`` unless both folders have the same files with the same bytes."""
    told = [{file.name: sha256(file.read_bytes()).digest() for file in folder.iterdir()} for folder in (built, again)]
    if names := sorted({name for name, _ in told[0].items() ^ told[1].items()}):
        raise Differs(", ".join(names))


def pack(folder: Path, archive: Path, epoch: int) -> None:
    """Write a folder as an archive with the same bytes wherever it is made."""
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", mtime=epoch, fileobj=file) as packed,
        tarfile.open(mode="w", fileobj=packed, format=tarfile.USTAR_FORMAT) as files,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                told = tarfile.TarInfo(path.relative_to(folder).as_posix())
                told.size, told.mtime, told.mode = path.stat().st_size, epoch, 0o644
                files.addfile(told, io.BytesIO(path.read_bytes()))


# --- what the wheel needs -------------------------------------------------------------------------------------------


def closure(requirements: Iterable[str], extras: Iterable[str]) -> Iterator[Distribution]:
    """Yield the libraries that these lines name with these extras, and all that those need in turn, each once."""
    waiting = [(Requirement(line), frozenset(extras)) for line in requirements]
    seen = set[tuple[str, frozenset[str]]]()
    told = set[str]()
    while waiting:
        wanted, of = waiting.pop()
        if wanted.marker is not None and not any(wanted.marker.evaluate({"extra": each}) for each in ("", *of)):
            continue
        name, inner = wanted.name.lower().replace("_", "-"), frozenset(wanted.extras)
        if (name, inner) in seen or name == "tile-referee":
            continue
        seen.add((name, inner))
        found = distribution(name)
        if name not in told:
            told.add(name)
            yield found
        waiting += [(Requirement(line), inner) for line in found.requires or ()]


def bill(wheel: Path, source: Path, work: Path, epoch: str) -> str:
    """Return the bill of materials of the wheel with all extras, as CycloneDX: what is installed here is what counts.

    Into an empty environment goes what says which libraries there are, and nothing of the libraries themselves.
    """
    venv.create(work, with_pip=False)
    (site,) = work.glob("lib/python3*/site-packages")
    with ZipFile(wheel) as files:
        named = [name for name in files.namelist() if ".dist-info/" in name]
        files.extractall(site, named)
    (metadata,) = site.glob("*.dist-info")
    itself = Distribution.at(metadata)
    extras = set(itself.metadata.get_all("Provides-Extra") or ()) - _LEFT_OUT
    for library in closure(itself.requires or (), extras):
        (info,) = {Path(str(library.locate_file(f))).parent for f in library.files or () if f.name == "METADATA"}
        shutil.copytree(info, site / info.name)
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--mc-type", "application"]
    command += [
        "--pyproject",
        str(source / "pyproject.toml"),
        "--of",
        "JSON",
        "--sv",
        "1.6",
        str(work / "bin" / "python"),
    ]
    environment = os.environ | {"SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stderr}\nNo bill of materials was made; see above.")
    told = json.loads(done.stdout)
    return json.dumps(told, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
