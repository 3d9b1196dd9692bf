"""The schema of event.json says what is written: every field, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from referee.tournament.log import EventLog
from referee.tournament.rebuild import exported
from referee.tournament.simulate import Chances, Simulation
from tests.log.games import key
from tests.tournament.rules.stages import SEED, terms

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "event.schema.json").read_text(encoding="utf-8"))
OFTEN = Chances(absent=0.1, late=0.2, withdraw=0.1, no_show=0.1, forfeit=0.1, amend=0.2)


def check(value: Any, schema: Any, path: str = "$") -> None:
    """Check the value, by the part of JSON Schema that this schema uses."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        null, other = schema["anyOf"]
        check(value, null if value is None else other, path)
    elif "const" in schema or "enum" in schema:
        assert value in schema.get("enum", [schema.get("const")]), path
    else:
        kinds = {"integer": int, "string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
        assert type(value) is kinds[schema["type"]], path
        assert value >= schema.get("minimum", value) if isinstance(value, int) else True, path
        if isinstance(value, str) and "pattern" in schema:
            assert re.search(schema["pattern"], value), path
        for at, each in enumerate(value if isinstance(value, list) else []):
            check(each, schema["items"], f"{path}[{at}]")
        if isinstance(value, dict):
            known = schema.get("properties", {})
            assert set(schema.get("required", ())) <= set(value), path
            for name, each in value.items():
                further = schema["additionalProperties"]
                assert name in known or further, f"{path}.{name}"
                check(each, known.get(name, further), f"{path}.{name}")


def made(rng_seed: int) -> dict[str, Any]:
    """Return a simulated event with a knock-out, as JSON has it."""
    log = EventLog.new(terms(rounds=3, late_until=3, cut=4, cut_size=4, cut_advance=1), key("organiser"))
    simulation = Simulation(log, SEED, 14, OFTEN, rng_seed)
    simulation.run()
    document: dict[str, Any] = json.loads(json.dumps(exported(log, simulation.names)))
    return document


def test_documents_keep_to_the_schema() -> None:
    found = made(3)
    check(found, SCHEMA)
    tables = [table for each in found["rounds"] for table in each["tables"]]
    assert any("earlier" in table for table in tables)
    assert any("void" in table for table in tables)
    assert any(each["absent"] for each in found["rounds"])


@pytest.mark.parametrize("name", ["seed", "entrants", "rounds"])
def test_a_document_that_lacks_a_field_does_not(name: str) -> None:
    found = made(3)
    del found[name]
    with pytest.raises(AssertionError):
        check(found, SCHEMA)
