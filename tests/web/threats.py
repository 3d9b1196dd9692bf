"""Hostile texts, and what shows that a page ran none of them."""

from __future__ import annotations

from playwright.async_api import Page

HOSTILE = (
    "<img src=x onerror=\"window.taken='img'\">",
    "<script>window.taken = 'script'</script>",
    '"><svg onload="window.taken=\'svg\'">',
    "javascript:window.taken='link'",
    "'-alert(1)-'",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "</script></style></textarea><b>",
    "\u202egnp.exe\u202c\u2066\u0000\u001b[31m",
    "a" * 5000,
)


WATCHED = """() => {
  window.reports = [];
  document.addEventListener("securitypolicyviolation", (event) => window.reports.push(event.violatedDirective));
}"""


async def nothing_happened(page: Page) -> None:
    """No text became a program, an element or a wider page, and no policy had to prevent it."""
    assert await page.evaluate("window.taken") is None
    assert await page.evaluate("window.reports") == []
    assert await page.locator("main script, main img, main b, main svg[onload]").count() == 0
