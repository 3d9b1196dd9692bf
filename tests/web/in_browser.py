"""The auditor as browsers run it, run by node: Pyodide, the archive, the module that checks signatures."""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64encode
from functools import cache
from pathlib import Path
from subprocess import PIPE
from typing import Any

from referee.log.verdict import Policy
from referee_clients.web.in_browser import pyodide
from referee_clients.web.in_browser.archive import archive
from tests.log.verify_js import why_not
from tests.web.static import STATIC

PYODIDE = Path(__file__).parents[2] / "build" / "pyodide"
"""Where ``make web-rules`` leaves it."""
NEEDED = os.environ.get("REFEREE_TESTS_BROWSER") == "needed"

_JOBS = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { auditorIn } = await import(`${STATIC}/rules_audit.mjs`);
const { verifierKey } = await import(`${STATIC}/verify/note.mjs`);
const { pinnedKeys } = await import(`${STATIC}/verify/report.mjs`);
const { loadPyodide } = await import(`${PYODIDE}/pyodide.mjs`);
const bytes = (base64) => new Uint8Array(Buffer.from(base64, "base64"));
const audit = auditorIn(await loadPyodide({ indexURL: PYODIDE }), new Uint8Array(readFileSync(ARCHIVE)));
for await (const line of createInterface({ input: process.stdin })) {
  const { log, key, seats, receipts } = JSON.parse(line);
  const pins = { key, seatKeys: pinnedKeys(seats), receipts: receipts.map(bytes) };
  const report = await audit(bytes(log), pins, key ? await verifierKey(key) : null);
  console.log(JSON.stringify(report));
}
"""


@cache
def lacking() -> str:
    """Return why this cannot be tested here; empty if it can."""
    if why := why_not():
        return why
    try:
        pyodide.check(PYODIDE)
    except pyodide.BadPyodide:
        return "needs Pyodide: make web-rules"
    return ""


class Auditor:
    """Python, loaded once."""

    def __init__(self, folder: Path) -> None:
        packed = folder / "auditor.zip"
        packed.write_bytes(archive())
        named = {"STATIC": STATIC.as_uri(), "PYODIDE": PYODIDE.as_posix() + "/", "ARCHIVE": str(packed)}
        script = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in named.items()) + _JOBS
        self._errors = folder / "stderr"
        with self._errors.open("wb") as stderr:
            command = ["node", "--input-type=module", "-e", script]
            self._node = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=stderr, text=True)

    def audited(self, data: bytes, policy: Policy) -> Any:
        """Return what the page's auditor finds."""
        assert not policy.scribe_keys, "the page takes none"
        job = {
            "log": b64encode(data).decode(),
            "key": str(policy.verifier or ""),
            "seats": [f"{seat}={raw.hex()}" for seat, raw in policy.seat_keys.items()],
            "receipts": [b64encode(note).decode() for note in policy.receipts],
        }
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        print(json.dumps(job), file=self._node.stdin, flush=True)
        line = self._node.stdout.readline()
        assert line, self._errors.read_text()[-2000:]  # an error of Python comes last
        return json.loads(line)

    def close(self) -> None:
        with self._node:
            self._node.kill()
