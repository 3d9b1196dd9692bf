"""Reports, score sheets and slips in every language: nothing of them stays in English but what is said to."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html import unescape
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest

import referee
from referee.games import registry
from referee.games.game import Violation
from referee.log.errors import Code, LogError, not_awaited
from referee.log.events import Author, Role
from referee.log.note import VerifierKey
from referee.telling import report as of_log
from referee.telling.game_file import GameFile, as_text
from referee.telling.recorder import about, adjudicated
from referee.text.notation import game_text, violations
from referee.text.notation.game_text import write
from referee.text.notation.outcomes import IN_ENGLISH
from referee.text.notation.violations import NotationError, sentence
from referee.text.report.model import Seat, of_adjudication
from referee.text.report.rulings import LineRuling, PointsOff, Policy
from referee.text.report.sheet import rules_of
from referee.text.report.text import html, text
from referee.text.words.catalogue import ENGLISH, languages, load, phrase, player_phrase
from referee_clients.web.cards import Card, sheet
from tests.cli.inside import referee as command
from tests.docs.shell import ROOT
from tests.frozen.said import EVENTS, HERE, LOGS, faulty
from tests.text.words.reports import in_english, sentences_of

VERIFIER: Final = VerifierKey.parse((HERE / "referee.vkey").read_text().strip())
SOURCE: Final = Path(referee.__file__).parent
LANGUAGES: Final = [language for language in languages("report") if language != ENGLISH]
SAYS: Final = re.compile(
    r"""\b(?:_?say|Said)\(\s*f?["']((?:[a-z_.]|\{[^}]*\})+)["']|\bkey := f"([^"]+)"|texts\.get\(f['"]([^'"]+\})['"]"""
)
MADE: Final = (r"game\..*", r"fact\..*", r"(value|terrain|type)\..*", r"(head|column|slip)\..*")
"""Keys that templates name, or that are put together from names of games and of facts."""


@cache
def told(
    language: str, names: Sequence[str] = (LOGS[0], LOGS[3], LOGS[5]), policies: Sequence[Policy] = (Policy.SKIP,)
) -> str:
    """Return reports of frozen logs, and of the same games with faults, in a language.

    Without the lines of records, which are notation; and without the English text of rules, which stands beside each.
    """
    say, made = load("report", language), []
    for name in names:
        data = (HERE / f"{name}.gamelog").read_bytes()
        made.append(of_log.report(BytesIO(data), VERIFIER, say=say)[1])
        record = faulty(write(as_text(GameFile.read(BytesIO(data)))), name)
        for policy in policies:
            found = adjudicated(record, policy, say=say)
            report = of_adjudication(found, [Seat(seat) for seat in range(found.setup.seats)])
            made.append(replace(report, rows=tuple(replace(row, words="") for row in report.rows)))
    said = " ".join(" ".join(map(text, made)).split())
    for game in registry.games():
        for rule in rules_of(game.rules_id, game.version).values():
            said = said.replace(rule.text, "")
    return said


def test_sentences_are_found_where_they_are() -> None:
    """In English reports of these games there are sentences of most parts of the catalogue."""
    found = {key for key, sentence in sentences_of(IN_ENGLISH).items() if sentence.is_in(told(ENGLISH))}
    assert {key.split(".")[0].split(":")[0] for key in found} >= {
        *("verdict", "alhambra", "remark", "log", "policy", "head", "about", "became"),
    }
    assert len(found) > 40


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_stays_in_english(language: str) -> None:
    """Another game for each language; the campaign has all in all."""
    say = load("report", language)
    said = told(language, LOGS[2 * LANGUAGES.index(language) % len(LOGS) :][:1])
    assert not in_english(said, say)
    assert say("draft") in said


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_sentence_stays_in_english_in_any_frozen_game(language: str) -> None:
    assert not in_english(told(language, LOGS, tuple(Policy)), load("report", language))


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["1 point", "2 points", "5 points", "21 points", "-1 points"]),
        ("cs", ["1 bod", "2 body", "5 bodů", "21 bodů", "-1 bod"]),
        ("sk", ["1 bod", "2 body", "5 bodov", "21 bodov", "-1 bod"]),
        ("ru", ["1 очко", "2 очка", "5 очков", "21 очко", "-1 очко"]),
        ("hu", ["1 pont", "2 pont", "5 pont", "21 pont", "-1 pont"]),
    ],
)
def test_numbers_decide_the_form(language: str, said: list[str]) -> None:
    say = load("report", language)
    assert [say("points", n=n) for n in (1, 2, 5, 21, -1)] == said


def test_every_key_is_said_somewhere_and_every_key_that_is_said_is_there() -> None:
    keys = set(IN_ENGLISH.texts)
    sources = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.j2")]
    named = {next(filter(None, found)) for path in sources for found in SAYS.findall(path.read_text(encoding="utf-8"))}
    patterns = [*MADE, *(re.sub(r"\\\{.*?\\\}", ".*", re.escape(each)) for each in named)]
    assert [key for key in sorted(keys) if not any(re.fullmatch(pattern, key) for pattern in patterns)] == []
    assert [each for each in sorted(named) if "{" not in each and each not in keys] == []


def test_every_fact_of_a_violation_has_words() -> None:
    """The rules of the games write names, and values that are words, into facts as text."""
    names, values = set(), set()
    for path in (SOURCE / "games").glob("*/*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if path.parent.name != "event" and isinstance(call, ast.Call) and ast.unparse(call.func) == "Violation":
                facts = [each for each in ast.walk(call) if isinstance(each, ast.Dict)]
                pairs = [pair for each in facts for pair in zip(each.keys, each.values, strict=True)]
                names |= {str(key.value) for key, _ in pairs if isinstance(key, ast.Constant)}
                values |= {str(value.value) for _, value in pairs if isinstance(value, ast.Constant)}
    assert len(names) > 30
    assert {f"fact.{name}" for name in names} | {f"value.{value}" for value in values} <= set(IN_ENGLISH.texts)


@pytest.mark.parametrize("said", ["buy", "buy or hand", "buy, hand or build", "buy, hand, build or dice"])
def test_kinds_of_moves_are_listed(said: str) -> None:
    assert game_text._kinds(said.replace(",", "").replace(" or", "").split()).by(IN_ENGLISH) == said


def test_every_kind_of_move_and_of_chance_has_words() -> None:
    """In English the name itself, without underscores."""
    modules = [import_module(f"referee.games.{name}.position") for name in registry.names()]
    every = [found for module in modules for name, found in vars(module).items() if name.isupper() and name != "TYPES"]
    lists = [found for found in every if isinstance(found, tuple)]
    chance = [kind for module in modules for kind in module.CHANCE_KINDS.values()]
    kinds = {*chance, *(kind for found in lists for kind in found)}
    assert len(kinds) > 25
    for kind in kinds:
        assert IN_ENGLISH(f"kind.{kind}") == kind.replace("_", " ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_of_the_auditor_are_told_in_the_language(language: str) -> None:
    """But for what the rules of the game and its components say, which is in English."""
    whole = (HERE / f"{LOGS[1]}.gamelog").read_bytes()
    lost = phrase("{player}, whose key you gave, never joined", player=9)
    audit, _ = of_log.report(BytesIO(whole), VERIFIER)
    told = of_log._signed(replace(audit, comments=(lost, "a table of 3")), load("report", language))
    assert told[-2:] == [lost.by(language), "a table of 3"]
    assert lost.by(language) != str(lost)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_violation_has_the_rule_in_both_languages(language: str) -> None:
    rules, say = rules_of("kingdomino", 1), load("report", language)
    violation = Violation("KDO-18", ((1, 2), (3, 4)), {"found": "a cell that is taken", "left": "forest"})
    told_ = sentence(violation, rules, say)
    own = violations.rule_text(rules["KDO-18"], say)
    assert (own != rules["KDO-18"].text) == (language in languages("rules"))
    assert own in told_
    assert rules["KDO-18"].text in told_
    assert f"1,2{say('and')}3,4" in told_
    assert (
        f"{say('fact.found')}: {say('value.a cell that is taken')}, {say('fact.left')}: {say('terrain.forest')}"
        in told_
    )
    assert "found" not in told_.partition(rules["KDO-18"].text)[0]


OUT_OF_TURN: Final = """[Game "kingdomino"]
[Seats "2"]
[frame "relative"]
[Result "*"]

first order: 0 1 0 1
line: 2 36 39 40
1: choose 36
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_why_a_line_cannot_be_is_told_in_the_language(language: str) -> None:
    """Where no rule is broken: what was found and is awaited, also by a log; if English alone says it, of what kind."""
    say = load("report", language)
    (illegal,) = adjudicated(OUT_OF_TURN, Policy.SKIP, say=say).illegal
    awaited = say("line.awaited.seat", player=0, kinds=say("kind.choose_domino"))
    assert illegal.reason == say("line.why", what=say("line.acts", player=1), expected=awaited)
    assert (
        adjudicated(OUT_OF_TURN, Policy.SKIP).illegal[0].reason
        == "player 2 is not on turn; expected player 1: choose domino"
    )
    with pytest.raises(NotationError) as caught, about("0: choose 36", line=7):
        raise not_awaited("{author} joins too late", "no move", author=Author(Role.SEAT, 1).phrase)
    english = "player 2 joins too late; expected no move"
    assert caught.value.why(IN_ENGLISH) == english
    assert caught.value.why(say) == say(
        "line.why",
        what=phrase("{author} joins too late", author=player_phrase(1)).by(language),
        expected=phrase("no move").by(language),
    )
    assert caught.value.why(say) != english
    with pytest.raises(NotationError) as caught, about("0: choose 36", line=7):
        raise LogError(Code.NOT_AWAITED, "the game is paused", "an arbiter's act")
    english = "the game is paused; expected an arbiter's act"
    assert caught.value.why(say) == f"{say('finding.NOT_AWAITED')} {say('original', text=english)}"
    assert caught.value.why(IN_ENGLISH) == english


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_is_in_its_language(language: str) -> None:
    say = load("report", language)
    data = (HERE / f"{LOGS[1]}.gamelog").read_bytes()
    page = html(of_log.report(BytesIO(data), None, say=say)[1])
    assert f'<html lang="{language}">' in page
    assert f"<p>{say('draft')}</p>" in page
    assert say("head.sheet") in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_findings_are_told_in_the_language_with_the_english_beside_them(language: str) -> None:
    say = load("report", language)
    assert {f"finding.{code}" for code in Code} <= set(say.texts)
    whole = (HERE / f"{LOGS[1]}.gamelog").read_bytes()
    at = len(whole) * 2 // 3
    audit, report = of_log.report(BytesIO(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]), VERIFIER, say=say)
    assert audit.findings
    for finding in audit.findings:
        assert finding.words(say) in report.verdict
        assert finding.words(say).startswith(say(f"finding.{finding.code}"))
        assert str(finding) in finding.words(say)
        assert finding.words(IN_ENGLISH) == f"{finding.layer}: {finding}"


def test_what_nobody_speaks_is_refused(tmp_path: Path) -> None:
    log = HERE / f"{LOGS[0]}.gamelog"
    for words in (("score", log), ("report", log), ("adjudicate", log)):
        done = command(*words, "--language", "../en")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--language: language ../en: expected one of {', '.join(languages('report'))}" in done.stderr
    done = command("score", log, "--json", "--language", LANGUAGES[0])
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json is for programs, and in English" in done.stderr


@pytest.mark.parametrize(
    ("words", "option"),
    [(("event", "export", HERE / f"{EVENTS[0]}.eventlog", "--json", "new.json"), "--html"), (("new",), "--sheet")],
)
def test_a_language_in_which_nothing_is_written_is_refused(words: Sequence[str], option: str, tmp_path: Path) -> None:
    done = command(*words, "--language", LANGUAGES[0], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"nothing is written in it; expected {option} with it" in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_where_a_language_cannot_be_spoken_nothing_is_written(tmp_path: Path) -> None:
    """The salts of a log stand in its reports alone: so there is no log without them."""
    without = "import sys; sys.modules['babel'] = None; from referee.cli import main; main()"
    words = ["adjudicate", ROOT / "docs" / "examples" / "final.txt", "--on-illegal", "skip", "--language", LANGUAGES[0]]
    words += ["--report", tmp_path / "made.html", "--out", tmp_path / "made.gamelog"]
    done = subprocess.run(
        [sys.executable, "-c", without, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "needs babel" in done.stderr
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_and_slips_of_an_event_are_in_the_language(language: str, tmp_path: Path) -> None:
    say = load("report", language)
    done = command("event", "export", HERE / f"{EVENTS[0]}.eventlog", "--html", tmp_path, "--language", language)
    assert (done.returncode, done.stderr) == (0, "")
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert say("slip.last") in unescape(pages["round-1-slips.html"])
    assert say("slip.table", round=1, table=2) in unescape(pages["round-1-slips.html"])
    for name, page in pages.items():
        said = " ".join(re.sub(r"<style>.*?</style>|<[^>]*>", " ", unescape(page), flags=re.DOTALL).split())
        assert f'<html lang="{language}">' in page
        assert say("draft") in said
        assert not in_english(said, say), name


@pytest.mark.parametrize("language", [each for each in languages("web") if each != ENGLISH])
def test_cards_are_in_the_language(language: str) -> None:
    w = load("web", language)
    card = Card("kingdomino", 1, "kingdomino@club.example", "https://club.example/seat", table=3)
    page = unescape(sheet([card], language))
    for said in (w("card.link"), w("card.table", n=3), w("card.seat", player=1), w("language.draft")):
        assert said in page
    assert f'<html lang="{language}">' in page
    assert load("web")("card.link") not in page


def test_what_goes_into_the_log_does_not_depend_on_the_language() -> None:
    record = faulty(write(as_text(GameFile.read(BytesIO((HERE / f"{LOGS[2]}.gamelog").read_bytes())))), LOGS[2])
    first = adjudicated(record, Policy.SKIP).illegal[0]
    rulings = [LineRuling(first.line, Policy.SKIP, points_off=(PointsOff(0, 2),), at=1)]
    english, own = (
        [
            replace(each, words="")
            for each in adjudicated(record, Policy.SKIP, rulings, say=load("report", each)).entered
        ]
        for each in (ENGLISH, LANGUAGES[0])
    )
    assert any(each.ruling for each in english)
    assert own == english
