"""The changelog is for users: short, by kind of user; what stood there before the first release is kept."""

from __future__ import annotations

from tests.docs.shell import ROOT

PAGE = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
MOST_WORDS = 900


def test_each_release_is_short_and_by_kind_of_user() -> None:
    _, *releases = PAGE.split("\n## ")
    for release in releases:
        assert len(release.split()) <= MOST_WORDS, release.partition("\n")[0]
    first = releases[-1]
    assert first.startswith("1.0.0rc1")
    for user in ("Organisers", "Arbiters", "Players", "Bot authors", "Auditors", "Operators"):
        assert f"\n### {user}\n" in first
