"""The modules that the web face sends to browsers, run by node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

STATIC = Path(__file__).parents[2] / "clients" / "referee_clients" / "web" / "static"
_SECONDS = 300


def run(script: str, stdin: Any) -> Any:
    """Return the output of a module, as JSON, for this input as JSON; in it STATIC names the folder of the modules."""
    script = f"const STATIC = {json.dumps(STATIC.as_uri())};\n{script}"
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(
        command, input=json.dumps(stdin), capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout)
