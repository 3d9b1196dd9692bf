"""The report that an audit of a frozen log gives, for ever."""

from __future__ import annotations

import json
from pathlib import Path

from referee.log.audit import audit
from referee.log.note import VerifierKey
from referee.log.verdict import Policy

HERE = Path(__file__).parent
LOGS = sorted(HERE.glob("*.gamelog"))


def report_of(log: Path) -> str:
    """Return the report as JSON, without comments: the words of a rule may be bettered, what it decides may not."""
    verifier = VerifierKey.parse((HERE / "referee.vkey").read_text().strip())
    with log.open("rb") as stream:
        report = json.loads(audit(stream, Policy(verifier)).as_json())
    del report["comments"]
    return json.dumps(report, indent=1) + "\n"
