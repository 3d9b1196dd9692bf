"""The whole audit in a browser's Python: of every file it says what the command line says, in the same words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Response, expect

from referee.log.audit import audit
from referee.log.certificates import encode_proof
from referee.log.note import VerifierKey
from referee.log.v1 import log_pb2
from referee.log.verdict import Policy
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.words.catalogue import load
from referee.tournament.check import check_event
from referee_clients.web.in_browser import pyodide
from referee_clients.web.pages import VERIFY_CSP, WORKER_CSP
from tests.attacks import corpus
from tests.attacks.everything import ATTACKS
from tests.bench.acts import REFEREE
from tests.log import evil
from tests.log.games import SIGNER, seat_key
from tests.log.proved import a_game, with_frames
from tests.log.verify_js import NAMES, TRUSTED, Job, dealt, flipped, small
from tests.sizes import sample_of
from tests.tournament import faults
from tests.tournament.verify_js import written
from tests.web.club import Club
from tests.web.in_browser import NEEDED, PYODIDE, Auditor, lacking
from tests.web.verify_page import INTACT, judged, payload, verify
from tests.web.verify_page import KEY as FROZEN_KEY
from tests.web.words import address_in

FROZEN = Path(__file__).parent.parent / "frozen"
TABLES = [name for name, table in corpus.TABLES.items() if table.rules_id in NAMES]
OF_FROZEN = Policy(VerifierKey.parse(FROZEN_KEY))


@pytest.fixture(autouse=True, scope="module")
def _pyodide() -> None:
    if why := lacking():
        assert not NEEDED, why
        pytest.skip(why)


@pytest.fixture(scope="module")
def auditor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Auditor]:
    """Yield one for all tests of this file that a process runs."""
    auditor = Auditor(tmp_path_factory.mktemp("auditor"))
    yield auditor
    auditor.close()


def in_english(parts: list[Any]) -> str:
    """Return what a page makes of texts that come with their key and what is in their places."""
    return "".join(
        IN_ENGLISH(part["key"], **{name: in_english([each]) for name, each in part["places"].items()})
        if isinstance(part, dict)
        else str(part)
        for part in parts
    )


def agree(auditor: Auditor, jobs: Iterable[Job]) -> set[str]:
    """Return the verdicts. Fail unless both say the same of every file, to the last word."""
    verdicts = set()
    for data, policy in jobs:
        ours, theirs = audit(BytesIO(data), policy), auditor.audited(data, policy)
        assert theirs["lines"] == ours.as_text().splitlines()
        assert theirs["exit_code"] == ours.exit_code
        seats = [
            f"player {each['seat'] + 1}: {in_english(each['how'])} {each['key']}" for each in theirs["said"]["seats"]
        ]
        assert [line for line in theirs["lines"] if line.startswith("player ")] == [line.rstrip() for line in seats]
        assert in_english([theirs["said"]["chance"]]).lower().startswith(f"chance: {ours.chance}")
        if certificates := theirs["said"]["certificates"]:
            assert f"certificates: {in_english([certificates])}" in theirs["lines"]
        verdicts.add(ours.verdict.name)
    return verdicts


@pytest.mark.long
@pytest.mark.parametrize("name", sample_of(sorted(path.stem for path in FROZEN.glob("*.gamelog")), 2))
def test_games_of_all_versions(name: str, auditor: Auditor) -> None:
    """Whole games and contested ones, with a key that is known and with one that is not."""
    data = (FROZEN / f"{name}.gamelog").read_bytes()
    assert agree(auditor, [(data, OF_FROZEN), (data, TRUSTED), (data, Policy())]) == {"COMPLETE", "UNTRUSTED_KEY"}


@pytest.mark.parametrize("rules_id", sample_of(NAMES, 1))
def test_one_signature_that_does_not_hold_and_keys_that_are_pinned(rules_id: str, auditor: Auditor) -> None:
    played = dealt(rules_id)
    whole = played.file()
    seats = {seat: seat_key(seat).public.raw for seat in (0, 1)}
    jobs = [(whole, Policy(SIGNER.verifier, pinned)) for pinned in (seats, {0: seats[1]})]
    jobs += [(whole, Policy(SIGNER.verifier, receipts=(note,))) for note in (played.notes[0], played.notes[-1])]
    entries = evil.entries(played)
    at = next(at for at, entry in enumerate(entries) if entry.HasField("signed") and at > len(entries) // 2)
    signature = entries[at].signed.signature
    entries[at].signed.signature = flipped(signature, 3)
    jobs.append((evil.signed_file(played, evil.relinked(entries)), TRUSTED))
    assert agree(auditor, jobs) >= {"COMPLETE", "UNTRUSTED_KEY", "CORRUPT"}


@pytest.mark.long
@pytest.mark.parametrize("table", sample_of(TABLES, 1))
def test_the_corpus_of_forged_files(table: str, auditor: Auditor) -> None:
    """Illegal moves, other decks, other results, entries that are missing, doubled, of other authors."""
    played = corpus.game(table)
    made = [attack(table, played) for attack in ATTACKS.values()]
    forgeries = [each for each in made if each is not None and not each.policy.scribe_keys]
    assert len(agree(auditor, [(each.data, each.policy) for each in forgeries])) > 3


def test_certificates(auditor: Auditor) -> None:
    """Those that hold, one of another entry, one that is altered."""
    played, frames = a_game(log_pb2.PROOF_POLICY_ALL)
    first, second = (log_pb2.Proof.FromString(frames[seq][0]) for seq in sorted(frames)[:2])
    of_another = encode_proof(first.seq, first.leaf, second.certificate)
    altered = encode_proof(first.seq, first.leaf, flipped(first.certificate, 4 * len(first.certificate)))
    files = [
        with_frames(played, each) for each in (frames, {**frames, first.seq: [of_another]}, {first.seq: [altered]})
    ]
    assert agree(auditor, [(data, TRUSTED) for data in files]) == {"COMPLETE", "CORRUPT"}


def test_damage(auditor: Auditor) -> None:
    data = small().file()
    files = [data[:size] for size in range(0, len(data), len(data) // 20)]
    files += [flipped(data, bit) for bit in range(0, len(data) * 8, len(data) // 3)]
    assert agree(auditor, [(each, TRUSTED) for each in files]) >= {"PREFIX", "CORRUPT"}


def test_events(tmp_path: Path, auditor: Auditor) -> None:
    """Whole, running and at fault, as `referee event check` says it."""
    paths = [*sorted(FROZEN.glob("*.eventlog"))[:3], written(tmp_path, 1, 12, 3)]
    made = list(map(Path.read_bytes, paths))
    made += [faults.PLANTED[name].file(tmp_path).read_bytes() for name in ("a-second-bye", "a-wrong-fraction")]
    policies = [OF_FROZEN] * 3 + [TRUSTED] * (len(made) - 3)
    for data, policy in zip(made, policies, strict=True):
        theirs = auditor.audited(data, policy)
        path = tmp_path / "event.eventlog"
        path.write_bytes(data)
        ours = check_event(path, policy, None, Policy())
        assert theirs["lines"] == list(ours.lines())
        assert theirs["exit_code"] == ours.exit_code


async def test_the_page_checks_the_rules_when_it_is_asked_to(page: Page, gateway: str) -> None:
    """Python is loaded then, once; and no page may compile anything: only the worker."""
    answers: dict[str, list[Response]] = {}

    def note(response: Response) -> None:
        assert response.request.method == "GET"
        answers.setdefault(response.url.removeprefix(gateway), []).append(response)

    page.on("response", note)
    check, report = page.get_by_role("button", name="Check the rules"), page.get_by_label("Check of the rules")
    assert await verify(page, gateway, (FROZEN / "alhambra-2-dealt-3.gamelog").read_bytes()) == INTACT
    assert not [path for path in answers if "pyodide" in path]
    await check.click()
    await expect(report).to_contain_text("Record intact and signed, and every rule was kept.")
    await expect(report.locator(".good")).to_have_count(1)
    await expect(report).to_contain_text("549 entries, 549 under a signed checkpoint")

    table = "rollwrite, dealt"
    forged = ATTACKS["illegal move let through"](table, corpus.game(table))
    assert forged is not None
    await page.get_by_label("The referee's verifier key").fill(str(SIGNER.verifier))
    await page.get_by_label("The file of the game or event").set_input_files(payload(forged.data))
    assert await judged(page) == INTACT
    await check.click()
    await expect(report).to_contain_text("Do not trust this record: it breaks the rules.")
    await expect(report.locator(".bad")).to_have_count(1)

    assert len(answers["/static/pyodide/pyodide.asm.wasm"]) == 1
    (worker,) = answers["/static/rules_auditor.mjs"]
    assert worker.headers["content-security-policy"] == WORKER_CSP
    assert "wasm" not in VERIFY_CSP


async def test_the_page_tells_in_its_language_what_the_rules_audit_finds(page: Page) -> None:
    say, w = load("report", "hu"), load("web", "hu")
    command = (REFEREE, "web", "--listen", "127.0.0.1:0", "--pyodide", str(PYODIDE), "--languages", "en,hu")
    gateway = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert gateway.stdout is not None
    try:
        address = address_in((await gateway.stdout.readline()).decode())
        table = "rollwrite, dealt"
        forged = ATTACKS["illegal move let through"](table, corpus.game(table))
        assert forged is not None
        await page.goto(f"{address}/verify?lang=hu")
        await page.get_by_label(w("verify.key")).fill(str(SIGNER.verifier))
        await page.get_by_label(w("verify.file")).set_input_files(payload(forged.data))
        await page.get_by_role("button", name=w("audit.check")).click()
        report = page.get_by_label(w("audit.report"))
        await expect(report).to_contain_text(w("audit.verdict.RULES"))
        await expect(report).to_contain_text(say("finding.RULES"))
        await expect(report.locator("[lang=en]").first).to_contain_text("RNW-")
        await expect(report).to_contain_text(f"{w('player', n=1)}: {say('standing.self_declared')}")
        await expect(report).to_contain_text(say("log.chance", chance=say("chance.dealt")).rstrip("."))
        await page.goto("about:blank")
    finally:
        gateway.terminate()
        await gateway.wait()


async def test_without_pyodide_the_page_says_what_to_do(page: Page, club: Club) -> None:
    await page.goto(f"{club.address}/verify")
    await expect(page.get_by_role("main")).to_contain_text("Until then, use the command referee audit")
    await expect(page.get_by_role("button", name="Check the rules")).to_have_count(0)


def test_another_file_than_the_release_is_refused(tmp_path: Path) -> None:
    for name in pyodide.FILES:
        (tmp_path / name).symlink_to(PYODIDE / name)
    pyodide.check(tmp_path)
    (tmp_path / "pyodide.mjs").unlink()
    with pytest.raises(pyodide.BadPyodide, match=r"pyodide\.mjs: No such file"):
        pyodide.check(tmp_path)
    (tmp_path / "pyodide.mjs").write_bytes(b"console.log(1)")
    with pytest.raises(pyodide.BadPyodide, match="not the file of Pyodide"):
        pyodide.check(tmp_path)
