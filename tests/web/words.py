"""The output of `referee web`, and the possible words of its pages."""

from __future__ import annotations

import json
import re

from playwright.async_api import Page

from referee.text.words.catalogue import load


def address_in(line: str) -> str:
    """Return the address in the line with which the gateway says that it is ready."""
    found = re.fullmatch(r"Pages are at (https?://\S+)/\n", line)
    assert found is not None, line
    return found[1]


async def wordy(page: Page, gateway: str) -> None:
    """Go to a page without a program, and let it hold all words, and a key of no referee: any module can be loaded
    there.
    """
    await page.goto(f"{gateway}/rules")
    words = json.dumps(dict(load("web").texts))
    # A script's text may not be changed here; any other element's may.
    await page.evaluate(
        """words => {
          const held = Object.assign(document.createElement("div"), { id: "words", hidden: true, textContent: words });
          document.getElementById("words").replaceWith(held);
          document.head.append(Object.assign(document.createElement("meta"), { name: "verifier-key" }));
        }""",
        words,
    )
