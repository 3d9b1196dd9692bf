"""A planted fault, the places of faults, and the packages of the product."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
_PRODUCT: Final = ("referee", "solver", "clients")
_CODE: Final = (".py", ".mjs")
_FOR_BROWSERS: Final = "clients/referee_clients/web"
_NOT_OURS: Final = ("v1", "node_modules", "__pycache__")
"""Generated, installed or compiled."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake as somebody could make it, and the tests that notice it."""

    name: str
    file: str
    old: str
    """Stands exactly once in the file."""
    new: str
    found_by: tuple[str, ...]
    """Test files or node ids, which ``make test`` runs whole, every day and without a browser."""

    @property
    def package(self) -> str:
        """Where it is, as ``packages`` names it."""
        return package_of(Path(self.file))

    def put_into(self, root: Path) -> None:
        """Make the mistake in this copy. Raise ``ValueError`` if the text does not stand there exactly once."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.old!r} stands {text.count(self.old)} times in {self.file}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


def package_of(file: Path) -> str:
    """Return the folder of a file.

    The modules right in ``referee`` are packages of their own, as in its layers. All that is for browsers is one, as
    only browsers run most of it.
    """
    if str(file.parent) == "referee":
        return str(file.with_suffix(""))
    return _FOR_BROWSERS if file.is_relative_to(_FOR_BROWSERS) else str(file.parent)


def packages(root: Path = ROOT) -> set[str]:
    """Return every package of the product with code of ours."""
    files = (file.relative_to(root) for top in _PRODUCT for file in (root / top).rglob("*") if file.suffix in _CODE)
    return {
        package_of(file)
        for file in files
        if file.name != "__init__.py" and not file.name.endswith("_grpc.py") and not {*file.parts} & {*_NOT_OURS}
    }
