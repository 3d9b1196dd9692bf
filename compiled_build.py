"""Compile the core with mypyc: `python -m compiled_build` writes a wheel that nobody needs, and a tree to test it in.

The wheel is a distribution of its own, ``tile-referee-compiled``. It holds extension modules only, and goes beside
``tile-referee`` of the same version: Python imports an extension module before a source file of the same name. What the
modules were made from is in ``tile_referee_compiled``, and ``referee`` refuses them beside other sources.
"""

import shutil
import subprocess
import sys
import sysconfig
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).resolve().parent
OUT = ROOT / "build" / "compiled"
WORK = OUT / "work"
NAME = "tile-referee-compiled"
MODULE = "tile_referee_compiled"
COMPILED: dict[str, str] = {
    "referee/games/alhambra": """
        catalogue chance check dealer encoding layout listing money outline phases position scoring state
        violations""",
    "referee/games": "sampling state_base table_rules values",
    "referee/games/kingdomino": """
        catalogue chance check dealer dominoes encoding kingdom listing phases position scoring series state""",
    "referee/games/rollwrite": """
        catalogue chance check dealer dice encoding listing phases position scoring state""",
    "referee/log": """
        audit certificates clocks deck entry errors file game header heads identity intent judge keys merkle
        position reading remarks replay""",
    "referee/tournament": "wire",
    "referee/tournament/rules": """
        bencode catalogue check position situation state""",
    "referee/wire": """
        alhambra checks components enums kingdomino rollwrite strict""",
}
"""What is compiled, by package.

Modules with dataclasses are not: of what mypyc makes of a frozen one no copy can be made, and none can go to another
process. A test says which modules of these packages lack, and why.
"""
_LAZY_NO_MORE = "Treating generator comprehension as list"
SETUP = """\
import sys
from mypyc.build import mypycify
from setuptools import setup

name, version, module, config, *sources = sys.argv[1:]
setup(
    name=name,
    version=version,
    description="The core of tile-referee of the same version, compiled: the same answers, sooner.",
    license="Apache-2.0",
    python_requires=">=3.11",
    install_requires=[f"tile-referee=={version}"],
    packages=[],
    py_modules=[module],
    ext_modules=mypycify(["--config-file", config, *sources], opt_level="2", multi_file=True),
    script_args=["--quiet", "bdist_wheel", "--dist-dir", ".."],
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
    return list(compiled), {WORK / f"{MODULE}.py": said, WORK / "setup.py": SETUP, made_by: beside.hexdigest()}


def build() -> Path:
    """Return the wheel."""
    shutil.rmtree(OUT, ignore_errors=True)
    shutil.copytree(ROOT / "referee", WORK / "referee", ignore=shutil.ignore_patterns("__pycache__"))
    compiled, texts = _made_from()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    words = [NAME, version("tile-referee"), MODULE, str(ROOT / "pyproject.toml"), *compiled]
    command = [sys.executable, "setup.py", *words]
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
    if missing := no_compiler():
        sys.exit(missing)
    wheel = build()
    unpack(wheel)
    print(f"Wrote {wheel.relative_to(ROOT)}")
