"""Pages in the reader's language: which one it is, that they hold together in all, and what they do not change."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import grpc
import httpx
import pytest
from babel import Locale
from grpc_status import rpc_status
from playwright.async_api import Browser, Page, Route, expect

from referee.games import registry
from referee.server.live.refusals import LimitReached
from referee.server.service.grpc_errors import status
from referee.text.words.catalogue import ENGLISH, languages, load, phrase
from referee.v1.game_service_pb2 import ErrorReason
from referee_clients.web import pages
from referee_clients.web.refusals import OWN_REASONS, Refusal, away, refusal_of
from tests.cli.inside import referee
from tests.log.games import SIGNER
from tests.sizes import sample_of
from tests.text.words.reports import in_english
from tests.tournament import faults
from tests.waiting import MOST_S
from tests.web import long_words
from tests.web.every_page import LOOKS, Site, problems, site
from tests.web.long_words import LANGUAGE, WITH_FOLDER
from tests.web.static import STATIC
from tests.web.verify_page import FROZEN, GAMES, KEY, payload
from tests.web.words import address_in

ALL = (*languages("web"), LANGUAGE)
TRANSLATIONS = [language for language in languages("web") if language != ENGLISH]


@pytest.fixture(scope="session")
def words_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return long_words.folder(tmp_path_factory.mktemp("words") / "all")


@pytest.fixture(scope="session")
def offering(words_folder: Path) -> Iterator[str]:
    """Yield the address of a gateway without games that offers every language."""
    command = [sys.executable, "-c", WITH_FOLDER, str(words_folder), "web", "--listen", "127.0.0.1:0"]
    command += ["--languages", ",".join(ALL)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield address_in(process.stdout.readline())
        process.terminate()
        assert process.wait(MOST_S) == 0


@pytest.fixture
def browsing(offering: str) -> Iterator[httpx.Client]:
    """Yield a browser without a window, which keeps cookies."""
    with httpx.Client(base_url=offering, timeout=MOST_S) as client:
        yield client


def language_of(answer: httpx.Response) -> str:
    told = answer.headers["content-language"]
    assert f'<html lang="{told}">' in answer.text
    assert {"accept-language", "cookie"} <= {each.strip().lower() for each in answer.headers["vary"].split(",")}
    return str(told)


def test_reader_gets_what_the_browser_asks_for(browsing: httpx.Client) -> None:
    for asked, got in (("", "en"), ("sk-SK, en;q=0.5", "sk"), ("fr", "en"), ("cs;q=0.3, hu;q=0.4", "hu")):
        for path in ("/", "/rules/event", "/about"):
            assert language_of(browsing.get(path, headers={"Accept-Language": asked})) == got
    missing = browsing.get("/nothing", headers={"Accept-Language": "cs"})
    assert (missing.status_code, language_of(missing)) == (404, "cs")


def test_choice_of_a_reader_is_kept(browsing: httpx.Client) -> None:
    english = {"Accept-Language": "en"}
    answer = browsing.get("/?lang=cs", headers=english)
    assert language_of(answer) == "cs"
    assert "SameSite=Lax; HttpOnly" in answer.headers["set-cookie"]
    assert language_of(browsing.get("/rules", headers=english)) == "cs"
    assert language_of(browsing.get("/rules?lang=en", headers={"Accept-Language": "cs"})) == "en"
    assert language_of(browsing.get("/rules", headers={"Accept-Language": "cs"})) == "en"


@pytest.mark.parametrize("value", ["xx", "", "CS", "../cs", "cs%0d%0aSet-Cookie:x=1", "//evil.example", "_state"])
def test_nothing_but_a_language_that_is_offered_is_taken(value: str, browsing: httpx.Client) -> None:
    answer = browsing.get(f"/?lang={value}")
    assert (answer.status_code, language_of(answer)) == (200, "en")
    assert "set-cookie" not in answer.headers
    kept = browsing.get("/", headers={"Cookie": f"language={value}", "Accept-Language": "cs"})
    assert language_of(kept) == "cs"
    assert "set-cookie" not in kept.headers


def test_each_language_is_a_document_of_its_own_to_caches(browsing: httpx.Client) -> None:
    tags = {language: browsing.get(f"/?lang={language}").headers["etag"] for language in ALL}
    assert len(set(tags.values())) == len(ALL)
    again = {"If-None-Match": tags["cs"]}
    assert browsing.get("/?lang=cs", headers=again).status_code == 304
    changed = browsing.get("/?lang=hu", headers=again)
    assert (changed.status_code, language_of(changed)) == (200, "hu")


def test_hashes_are_those_of_each_language(browsing: httpx.Client) -> None:
    lines = browsing.get("/about?lang=cs").text.partition('class="hash">\n')[2].partition("</pre>")[0].split("\n")
    told = {path: digest for digest, path in (line.split("  ") for line in lines if line)}
    for language in ALL:
        path = f"/position?lang={language}"
        assert sha256(browsing.get(path).content).hexdigest() == told[path]
    assert "/position" not in told


def test_drafts_are_offered_only_by_name(gateway: str) -> None:
    assert all(load("web", language).is_draft for language in TRANSLATIONS)
    answer = httpx.get(f"{gateway}/?lang=cs", headers={"Accept-Language": "cs"}, timeout=MOST_S)
    assert '<html lang="en">' in answer.text
    assert "hreflang" not in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("command", [("web", "--languages"), ("serve", "--web", "127.0.0.1:0", "--web-languages")])
@pytest.mark.parametrize(
    ("named", "told"), [("en,xx", "'xx' is no language of the pages"), ("cs", "expected en among")]
)
def test_other_languages_are_refused(command: tuple[str, ...], named: str, told: str, tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data") if command[0] == "serve" else ()
    result = referee(*command, named, *data)
    assert result.returncode == 2
    assert told in result.stderr
    assert not (tmp_path / "data").exists()


def test_languages_of_pages_need_pages(tmp_path: Path) -> None:
    result = referee("serve", "--data", tmp_path / "data", "--web-languages", "en")
    assert (result.returncode, "--web-languages belongs to --web" in result.stderr) == (2, True)


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_rules_stand_beside_the_english_ones(language: str, browsing: httpx.Client) -> None:
    """The English ones decide, and stand alone where there is no translation."""
    for name in registry.names():
        text = browsing.get(f"/rules/{name}?lang={language}").text
        rules = registry.get(name).catalogue
        assert text.count('<p lang="en" class="original">') == len(rules)
        assert text.count("<dd><p>") == len(rules)
        assert load("web", language)("language.decides") in text
    assert '<p lang="en">' in browsing.get(f"/rules/alhambra?lang={LANGUAGE}").text


async def test_browsers_and_babel_agree_on_plurals(page: Page) -> None:
    for language in languages("web"):
        told = await page.evaluate(
            "language => [...Array(201).keys()].map((n) => new Intl.PluralRules(language).select(n))", language
        )
        assert told == [Locale.parse(language).plural_form(n) for n in range(201)], language


async def test_menu_keeps_the_place(page: Page, offering: str) -> None:
    """And the address that a reader passes on names no language."""
    position = "#rollwrite;b1,2;y1,6;c3;1,1;2,5"
    await page.goto(f"{offering}/position{position}")
    await page.locator(".languages summary").click()
    await page.get_by_role("link", name="čeština").click()
    await expect(page.locator("html")).to_have_attribute("lang", "cs")
    await expect(page.locator(".status .brief")).to_be_visible()
    await expect(page).to_have_url(f"{offering}/position{position}")
    await expect(page.locator(".draft")).to_have_text(load("web", "cs")("language.draft"))
    await page.get_by_role("link", name=load("web", "cs")("nav.rules")).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text(load("web", "cs")("title.rules"))


async def test_broken_rule_is_told_in_the_language_and_in_english(page: Page, offering: str) -> None:
    """With what was found, too."""
    broken = next(look for look in LOOKS if look.name == "position-broken")
    await page.goto(f"{offering}/position?lang=cs{broken.address.removeprefix('/position')}")
    told = page.locator(".broken-rules li").first
    rule = await told.get_by_role("link").inner_text()
    await expect(told).to_contain_text(load("rules", "cs")(rule))
    await expect(told).to_contain_text("(strany: ")
    await expect(told.locator("[lang=en]")).to_contain_text(
        next(each.text for each in registry.get("alhambra").catalogue if each.id == rule)
    )
    # A reader whose language has nothing gets the English alone.
    await page.goto(f"{offering}/position?lang={LANGUAGE}{broken.address.removeprefix('/position')}")
    await expect(told.locator("[lang=en]")).to_be_visible()


@pytest.mark.parametrize("language", TRANSLATIONS)
async def test_findings_of_a_check_are_told_in_the_language(
    language: str, page: Page, offering: str, tmp_path: Path
) -> None:
    """With the auditor's own words beside them: of a file that was altered, and of an event at fault."""
    say, w = load("report", language), load("web", language)
    report = page.locator("#report")
    await page.goto(f"{offering}/verify?lang={language}")
    await page.get_by_label(w("verify.key")).fill(KEY)
    whole = (FROZEN / f"{GAMES[2]}.gamelog").read_bytes()
    at = len(whole) // 2
    altered = whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    await page.get_by_label(w("verify.file")).set_input_files(payload(altered))
    await expect(report).to_contain_text(f"{w('verify.verdict.CORRUPT')}")
    await expect(report).to_contain_text(say("finding.FRAME"))
    await expect(report.locator("[lang=en]").first).to_be_visible()
    await page.get_by_label(w("verify.key")).fill(str(SIGNER.verifier))
    event = faults.PLANTED["a-second-bye"].file(tmp_path).read_bytes()
    await page.get_by_label(w("verify.file")).set_input_files(payload(event))
    await expect(report).to_contain_text(w("verify.event.PAIRING"))
    await expect(report).to_contain_text(say("finding.RULES"))
    await expect(report.locator("[lang=en]").first).to_contain_text("EVT-")


async def test_what_a_browser_lacks_is_told_in_the_language(page: Page, offering: str) -> None:
    async def lacking(route: Route) -> None:
        body = 'crypto.subtle.importKey = async () => { throw new DOMException("none", "NotSupportedError"); };\n'
        await route.fulfill(content_type="text/javascript", body=body + (STATIC / "auditor.mjs").read_text())

    w = load("web", "hu")
    await page.route("**/static/auditor.mjs", lacking)
    await page.goto(f"{offering}/verify?lang=hu")
    await page.get_by_label(w("verify.key")).fill(KEY)
    await page.get_by_label(w("verify.file")).set_input_files(payload((FROZEN / f"{GAMES[2]}.gamelog").read_bytes()))
    await expect(page.locator("#report")).to_have_text(w("verify.unread", message=w("verify.no_ed25519")))


def reasons_in_code() -> set[str]:
    """Return every reason with which the gateway's own code refuses."""
    found = set()
    for path in (pages.FOLDER).glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "Refusal":
                found |= {str(each.value) for each in call.args[1:2] if isinstance(each, ast.Constant)}
    return found


def test_every_reason_has_words_in_every_language() -> None:
    """With the parts that come with it, and in English with whatever else does."""
    known = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()[1:]} | OWN_REASONS
    parts = {
        "SEQ_OUT_OF_RANGE": {"size": "3"},
        "UNKNOWN_HOST": {"host": "evil.example"},
        "INTERNAL": {"incident": "0a1b"},
    }
    assert reasons_in_code() - known == set()
    for reason in known:
        refusal = Refusal(503, reason, "said in English", parts.get(reason), retry_after=2)
        assert refusal.words(ENGLISH) == refusal.words(LANGUAGE) == "said in English"
        told = {language: refusal.words(language) for language in TRANSLATIONS}
        assert len({"said in English", *told.values()}) == 1 + len(TRANSLATIONS), reason
        for words in told.values():
            assert "{" not in words
            assert all(part in words for part in parts.get(reason, {}).values())
    # A referee that sends less than it should is quoted.
    assert Refusal(416, "SEQ_OUT_OF_RANGE", "said in English").words("cs") == "said in English"


def test_a_refusal_says_to_wait_only_where_that_helps_and_why_in_full() -> None:
    """A game has a limit of entries, which no wait changes."""
    error = grpc.aio.AioRpcError(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(*rpc_status.to_status(status(LimitReached("entries"), method="x")).trailing_metadata),
        "limit reached: entries",
    )
    found = refusal_of(error)
    assert (found.status, found.reason, found.retry_after) == (429, "LIMIT", None)
    said = {language: load("refusals", language) for language in TRANSLATIONS}
    for language, say in said.items():
        assert found.words(language) == say("LIMIT_FOR_GOOD", detail=say("QUOTED", message=found.message))
    for why in (phrase("the game could not be read"), phrase("the gateway is stopping")):
        for language, say in said.items():
            assert away(why).words(language) == say("UNAVAILABLE", s=2, detail=why.by(language))
            assert str(why) not in away(why).words(language)


def test_refusals_are_in_the_language_of_who_asks(browsing: httpx.Client) -> None:
    """An earlier choice does not matter: pages name their own. Reason and parts are the same in all."""
    browsing.get("/?lang=ru")
    told = {}
    for asked, got in (("hu", "hu"), ("cs, en;q=0.5", "cs"), ("fr", "en"), ("*", "en"), (LANGUAGE, LANGUAGE)):
        headers = {"Accept-Language": asked, "Origin": str(browsing.base_url).rstrip("/")}
        answer = browsing.post("/api/v1/position", content=b"{", headers=headers)
        told[got] = answer.json()
        assert (answer.status_code, answer.headers["content-language"]) == (415, got)
    assert {each["reason"] for each in told.values()} == {"WRONG_TYPE"}
    english = "Nothing was judged: expected Content-Type: application/json."
    assert told["en"]["message"] == told[LANGUAGE]["message"] == english
    for language in ("hu", "cs"):
        say = load("refusals", language)
        assert told[language]["message"] == say("WRONG_TYPE", detail=say("QUOTED", message=english))
    # Requests refused before any page is asked for, too.
    foreign = browsing.get("/", headers={"Accept-Language": "cs", "Host": "evil.example"})
    assert foreign.json()["message"].startswith("Řekněte to pořadateli: pod jménem evil.example")


@pytest.mark.cut_off
async def test_a_page_says_in_its_language_why_it_was_refused(page: Page, offering: str) -> None:
    async def spoilt(route: Route) -> None:
        await route.continue_(headers={**route.request.headers, "content-type": "text/plain"})

    await page.route("**/api/v1/position", spoilt)
    await page.goto(f"{offering}/position?lang=sk")
    await expect(page.locator(".status .problem")).to_contain_text("Nič sa nestalo: brána nepozná typ")


async def test_a_score_is_told_in_the_language(page: Page, offering: str) -> None:
    look = next(look for look in LOOKS if look.name == "score-rollwrite")
    await page.goto(f"{offering}{look.address.replace('#', '?lang=cs#')}")
    say = load("report", "cs")
    sheet = page.get_by_role("region", name=load("web", "cs")("sheet"))
    await expect(sheet).to_contain_text(say("remark.boards"))
    await expect(sheet).to_contain_text(say("rollwrite.sheet.default", name="rw-default-1"))
    assert not in_english(await sheet.text_content() or "", say)


_WITHOUT_GAMES = [
    look
    for look in LOOKS
    if look.path.startswith(("/position", "/verify", "/rules", "/nothing")) or look.name == "home"
]


async def test_longer_words_break_no_page(page: Page, offering: str) -> None:
    """A sample of it, without games: the campaign has every page, in every language."""
    at = Site(page, offering, {})
    await page.goto(f"{offering}/?lang={LANGUAGE}")
    wanted = {"position-alhambra", "position-kingdomino", "verify", "rules-alhambra"}
    looks = [look for look in _WITHOUT_GAMES if look.name in wanted]
    assert len(looks) == len(wanted)
    assert [problem for look in looks for problem in await problems(at, look, [("light", 360)])] == []


@pytest.mark.long
@pytest.mark.parametrize("language", sample_of((LANGUAGE, *TRANSLATIONS), 1))
async def test_every_page_can_be_used_in_every_language(
    language: str, browser: Browser, words_folder: Path, tmp_path: Path
) -> None:
    async with site(browser, tmp_path / "data", words_folder, "--languages", ",".join(ALL)) as at:
        await at.page.goto(f"{at.address}/?lang={language}")
        found = [problem for look in LOOKS for problem in await problems(at, look, [("light", 360), ("dark", 1280)])]
    assert found == []


_BROKEN_WORDS = """() => [...document.querySelectorAll("th, .kind")].flatMap((cell) => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const broken = [];
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        for (const { 0: word, index } of text.data.matchAll(/[^ ]+/g)) {
            const range = document.createRange();
            range.setStart(text, index);
            range.setEnd(text, index + word.length);
            if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
        }
    }
    return broken;
})"""


@pytest.mark.long
async def test_no_word_of_a_heading_is_broken_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    """In the languages that there are; words that are longer may be."""
    looks = [look for look in LOOKS if look.name in ("event-over", "position-kingdomino", "position-alhambra")]
    assert len(looks) == 3
    async with site(browser, tmp_path / "data", None, "--languages", ",".join(languages("web"))) as at:
        found = []
        for language in languages("web"):
            await at.page.goto(f"{at.address}/?lang={language}")
            for look in looks:
                await at.open(look)
                await at.seen("light", 360)
                found += [(language, look.name, word) for word in await at.page.evaluate(_BROKEN_WORDS)]
    assert found == []
