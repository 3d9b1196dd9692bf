#!/usr/bin/env python3
"""A bot in Python: takes the first move of the list that buys, builds or places, otherwise the last."""

import json
import sys

for line in sys.stdin:
    ((kind, told),) = json.loads(line).items()
    if kind == "hello":
        answer = {"name": "first builder"}
    elif kind == "turn":
        texts = told["texts"]
        better = [number for number, text in enumerate(texts) if text.split()[0] in {"buy", "build", "place"}]
        answer = {"move": better[0] if better else len(texts) - 1}
    else:
        continue
    print(json.dumps(answer), flush=True)
