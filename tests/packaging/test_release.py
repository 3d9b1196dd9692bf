"""A release: what is built twice has the same bytes and says what it needs; the files beside it agree with it."""

from __future__ import annotations

import json
import re
import tarfile
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

import compiled_build
import referee
from tests import make_release
from tests.docs.shell import ROOT
from tests.sizes import GATE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@GATE
def test_a_release_is_whole(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    make_release.release(tmp_path / "work", out)
    lines = [line.partition("  ") for line in (out / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, _, name in lines}
    assert sums == {
        file.name: sha256(file.read_bytes()).hexdigest() for file in out.iterdir() if file.name != "SHA256SUMS"
    }
    kinds = {re.sub(r"^tile[-_]referee-[\w.]+?(?=-py3|-docs|-man|-verify|\.cdx|\.tar\.gz$)", "", name) for name in sums}
    assert kinds == {
        "-py3-none-any.whl", ".tar.gz", ".cdx.json", "-verify.html", "-docs.tar.gz", "-man.tar.gz",
    }  # fmt: skip
    (bill,) = out.glob("*.cdx.json")
    told = json.loads(bill.read_text())
    assert told["metadata"]["component"]["name"] == "tile-referee"
    names = {component["name"] for component in told["components"]}
    assert {"grpcio", "z3-solver", "starlette", "psycopg", "textual"} <= names
    assert {"pytest", "mypy", "zensical"} & names == set()
    (man,) = out.glob("*-man.tar.gz")
    with tarfile.open(man) as pages:
        assert "referee-audit.1" in pages.getnames()


def test_other_bytes_are_named(tmp_path: Path) -> None:
    for folder, text in (("one", "a"), ("two", "b")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same").write_text("same")
        (tmp_path / folder / "wheel").write_text(text)
    with pytest.raises(make_release.Differs, match=r"^wheel$"):
        make_release.compare(tmp_path / "one", tmp_path / "two")


def test_an_archive_does_not_depend_on_when_it_is_made(tmp_path: Path) -> None:
    made = []
    for mode in (0o600, 0o644):
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / "page").write_text("x")
        (tmp_path / "in" / "page").chmod(mode)
        make_release.pack(tmp_path / "in", tmp_path / "out.tar.gz", 1_700_000_000)
        made.append((tmp_path / "out.tar.gz").read_bytes())
    assert made[0] == made[1]


def test_the_closure_is_of_the_extras_that_are_asked_for() -> None:
    lines = [f'{line}; extra == "solver"' for line in PROJECT["optional-dependencies"]["solver"]]
    lines += [f'{line}; extra == "gym"' for line in PROJECT["optional-dependencies"]["gym"]]
    names = {library.metadata["Name"] for library in make_release.closure(lines, {"solver"})}
    assert names == {"z3-solver"}


def test_the_version_is_the_same_wherever_it_stands() -> None:
    assert referee.__version__ == PROJECT["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == PROJECT["version"]


def test_the_citation_names_the_project_and_its_license() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (told["license"], told["abstract"].strip()) == (PROJECT["license"], PROJECT["description"])
    assert {"cff-version", "message", "title", "authors"} <= told.keys()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_of_the_form_that_forges_read(path: Path) -> None:
    told: dict[Any, Any] = yaml.safe_load(path.read_text())
    assert told.keys() >= {"name", True, "permissions", "jobs"}  # in YAML 1.1 the word "on" is true
    assert told["permissions"] == {"contents": "read"}
    for job in told["jobs"].values():
        assert set(job.get("needs", ())) <= told["jobs"].keys()
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z-]+)$", path.read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_forge_runs_the_gate() -> None:
    gitlab = yaml.safe_load((ROOT / ".gitlab-ci.yml").read_text())["gate"]["script"]
    github = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["gate"]["steps"]
    assert gitlab[-1] == github[-1]["run"] == ".ci/run"


def test_the_compiled_core_has_a_folder_for_any_build_program(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    for _ in ("new", "made before"):
        compiled_build.lay_out(folder)
    name, version, module, config, *sources = json.loads((folder / "words.json").read_text())
    assert (name, version) == (compiled_build.NAME, PROJECT["version"])
    assert (folder / "beside" / f"{module}.py").exists()
    assert sources
    assert all((folder / source).exists() for source in sources)
    told = tomllib.loads((folder / config).read_text())
    assert told["build-system"]["build-backend"] == "setuptools.build_meta"
    assert any(line.startswith("mypy==") for line in told["build-system"]["requires"])
    assert told["tool"]["mypy"]["strict"]


def test_no_other_folder_is_laid_out(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(SystemExit, match="Name a new folder"):
        compiled_build.lay_out(tmp_path)
    assert (tmp_path / "mine").read_text() == "mine"


def test_the_hooks_before_a_commit_are_what_make_lint_does() -> None:
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    lint = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
    own = {hook["entry"].removeprefix(".venv/bin/").partition(" --against")[0] for hook in repo["hooks"]}
    made = re.findall(r"@\$\(BIN\)/(.*)", lint)
    assert own == {re.sub(r" --against.*| \$\(CODE\)", "", line) for line in made}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_forms_for_issues_ask_something(path: Path) -> None:
    told = yaml.safe_load(path.read_text())
    if path.name == "config.yml":
        return
    assert told.keys() >= {"name", "description", "body"}
    ids = [field["id"] for field in told["body"]]
    assert len(set(ids)) == len(ids) > 0
    assert all(field["attributes"]["label"] for field in told["body"])
