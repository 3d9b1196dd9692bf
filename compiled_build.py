"""Compile the core with mypyc: `python -m compiled_build` writes a wheel that nobody needs, and a tree to test it in.

The wheel is a distribution of its own, ``tile-referee-compiled``. It holds extension modules only, and goes beside
``tile-referee`` of the same version: Python imports an extension module before a source file of the same name. What the
modules were made from is in ``tile_referee_compiled``, and ``referee`` refuses them beside other sources.
"""

import json
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent
OUT = ROOT / "build" / "compiled"
WORK = OUT / "work"
NAME = "tile-referee-compiled"
MODULE = "tile_referee_compiled"
SETUPTOOLS = 80
_WORDS = "words.json"
"""What the setup program is told; also the mark of a folder that this program has made."""
COMPILED: dict[str, str] = {
    "referee/games/alhambra": "catalogue chance check layout money outline position scoring state violations",
    "referee/games": "sampling state_base table_rules values",
    "referee/games/kingdomino": "catalogue chance check dominoes kingdom position scoring state",
    "referee/games/rollwrite": "catalogue chance check dice position scoring state",
    "referee/log": """
        audit certificates clocks codec deck entry errors file findings game header heads intent judge keys merkle
        position remarks replay""",
    "referee/tournament": "wire",
    "referee/tournament/rules": "bencode catalogue check position situation state",
    "referee/wire": "alhambra checks enums kingdomino rollwrite strict",
}
"""What is compiled, by package.

Modules with dataclasses are not: of what mypyc makes of a frozen one no copy can be made, and none can go to another
process. A test says which modules of these packages lack, and why.
"""
_LAZY_NO_MORE = "Treating generator comprehension as list"
SETUP = """\
import json
import os
import sys
from mypyc.build import mypycify
from setuptools import setup

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "words.json")) as words:
    name, version, module, config, *sources = json.load(words)
# By hand; a build program gives its own words.
script_args = sys.argv[1:] or ["--quiet", "bdist_wheel", "--dist-dir", ".."]
setup(
    name=name,
    version=version,
    description="The core of tile-referee of the same version, compiled: the same answers, sooner.",
    license="Apache-2.0",
    python_requires=">=3.11",
    install_requires=[f"tile-referee=={version}"],
    packages=[],
    # Apart, where mypy does not find it: in the sources it is a module that may be missing.
    package_dir={"": "beside"},
    py_modules=[module],
    ext_modules=mypycify(["--config-file", config, *sources], opt_level="2", multi_file=True),
    script_args=script_args,
)
"""


def sources() -> list[Path]:
    """Return what is compiled, relative to the root."""
    return sorted(Path(package) / f"{name}.py" for package, names in COMPILED.items() for name in names.split())


def no_compiler() -> str:
    """Return a sentence where there is no C compiler, otherwise nothing."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is not None:
        return ""
    return f"There is no C compiler ({compiler}), so the core stays pure Python. Nothing else needs one."


def made() -> Path | None:
    """Return the wheel that was compiled before; None: there is none of these sources."""
    _, texts = _made_from()
    if any(not path.exists() or path.read_text(encoding="utf-8") != text for path, text in texts.items()):
        return None
    return next(OUT.glob("*.whl"), None)


def _made_from() -> tuple[list[str], dict[Path, str]]:
    """Return the names of the sources, and the files that are written beside them."""
    compiled = {path.as_posix(): sha256((ROOT / path).read_bytes()).hexdigest() for path in sources()}
    said = f'"""What the compiled core was made from."""\n\nSOURCES = {compiled!r}\n'
    # What is not compiled counts as well: constants of other modules are built in.
    beside = sha256(f"{sys.version} {version('mypy')}".encode())
    for path in sorted([ROOT / "pyproject.toml", *(ROOT / "referee").rglob("*.py")]):
        beside.update(path.read_bytes())
    made_by = WORK / "made_by.txt"
    return list(compiled), {
        WORK / "beside" / f"{MODULE}.py": said,
        WORK / "setup.py": SETUP,
        made_by: beside.hexdigest(),
    }


def lay_out(folder: Path) -> None:
    """Fill a folder that any build program makes the wheel from, such as cibuildwheel: `--source FOLDER`.

    Its `pyproject.toml` demands the same mypy as here, and the libraries that mypy follows for their types.
    """
    if folder.exists() and not (folder / _WORDS).exists():
        sys.exit(f"{folder} is there, and was not made by this program. Name a new folder.")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "referee", folder / "referee", ignore=shutil.ignore_patterns("__pycache__"))
    compiled, texts = _made_from()
    (folder / "beside").mkdir()
    for path, text in texts.items():
        (folder / path.relative_to(WORK)).write_text(text, encoding="utf-8")
    words = [NAME, version("tile-referee"), MODULE, "pyproject.toml", *compiled]
    (folder / _WORDS).write_text(json.dumps(words), encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    offered = project["project"]["optional-dependencies"]
    types = [line for line in offered["dev"] if line.startswith("types-")]
    needs = [f"setuptools>={SETUPTOOLS}", f"mypy=={version('mypy')}", *project["project"]["dependencies"]]
    needs += [line for line in offered["server"] if not line.startswith("tile-referee")] + types
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[tool.mypy]")[2].partition("# --- ")[0]
    build_system = f'[build-system]\nrequires = {json.dumps(needs)}\nbuild-backend = "setuptools.build_meta"\n'
    (folder / "pyproject.toml").write_text(f"{build_system}\n[tool.mypy]{settings}", encoding="utf-8")


def build() -> Path:
    """Return the wheel."""
    shutil.rmtree(OUT, ignore_errors=True)
    lay_out(WORK)
    command = [sys.executable, "setup.py"]
    done = subprocess.run(command, cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603 - our own words
    # A generator that mypyc makes a list of takes the time and the memory of all that it would ever give.
    if done.returncode or _LAZY_NO_MORE in done.stdout:
        shutil.rmtree(OUT)
        sys.exit(f"{done.stdout}\nThe core was not compiled: see above.")
    (wheel,) = OUT.glob("*.whl")
    return wheel


def unpack(wheel: Path) -> Path:
    """Return a copy of the whole project with the wheel in it, to test it in."""
    tree = OUT / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", ".git", ".venv", "build", ".*_cache", ".hypothesis", "node_modules")
    shutil.copytree(ROOT, tree, ignore=ignored)
    with ZipFile(wheel) as files:
        files.extractall(tree)
    return tree


if __name__ == "__main__":
    if sys.argv[1:2] == ["--source"]:
        lay_out(Path(sys.argv[2]))
        sys.exit()
    if missing := no_compiler():
        sys.exit(missing)
    wheel = build()
    unpack(wheel)
    print(f"Wrote {wheel.relative_to(ROOT)}")
