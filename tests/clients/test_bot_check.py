"""``referee bot-check``: it finds what was planted, by the check meant for it, and nothing in good bots."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from referee.games import registry
from referee_clients.bot_check.catalogue import ASKED, CATALOGUE, PLAYED, Result, Status, as_json, as_junit
from referee_clients.bot_check.lint import RULES, look
from referee_clients.bot_check.network_checks import NetworkChecks, ids
from referee_clients.bot_check.offline_checks import OfflineChecks
from referee_clients.bot_check.positions import rare
from referee_clients.bot_check.scene import Patience, Referee, Scene
from referee_clients.bot_check.subject import Subject, subject
from referee_clients.bots import UnknownBot
from referee_clients.children import Children
from tests.cli import command
from tests.cli.inside import referee
from tests.clients.javascript import Node
from tests.docs.shell import ROOT
from tests.sizes import campaign

NAMES = ("one", "other")
WAITS = Patience(game_s=200, leave_s=60, silence_s=200, flood_s=3)
SOON = Patience(game_s=20, leave_s=10, silence_s=12, clock_s=1)
"""For what is wrong because nothing comes."""
AFTER = replace(WAITS, leave_s=10)
"""The limits above when the game is over."""
OFTEN = replace(WAITS, flood_s=15)
"""For what is wrong because too much comes, as slow as the machine may be."""


def asked(bot: Subject, game: str, wanted: Collection[str] = ASKED, limit_s: float = 60.0) -> list[Result]:
    """Return the results of the checks that ask the bot."""
    return list(OfflineChecks(bot, game, games=3, p99_s=0.25, limit_s=limit_s, share_s=600.0).results(wanted))


def failed(results: list[Result]) -> dict[str, str]:
    """Return the findings, by the check that found them."""
    return {result.check.id: result.told for result in results if result.status is Status.FAILED}


# --- bots that are asked -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bot", "game", "check", "told"),
    [
        ("NeedsArguments", "kingdomino", "starts", "missing 1 required positional argument"),
        ("RaisesAtTen", "kingdomino", "random-games", "it raised ZeroDivisionError: boom"),
        ("NoneAtFive", "kingdomino", "random-games", "it chose None"),
        ("Illegal", "alhambra", "random-games", "which is against ALH-C1"),
        ("Leaves", "rollwrite", "random-games", "it raised SystemExit: 7"),
        ("coroutine", "kingdomino", "starts", "choose is async"),
        ("NoKingdomOfFour", "kingdomino", "transcripts", "transcript kingdomino-3-wider-offer"),
        ("Hangs", "kingdomino", "random-games", "choose gave no answer within 1s"),
        ("Hangs", "kingdomino", "time", "and never 1000 ms"),
        ("Slow", "kingdomino", "time", "expected at most 250 ms"),
        ("NeedsAChoice", "rollwrite", "one-move", "IndexError"),
        ("NoDiscard", "kingdomino", "discard-only", "NotImplementedError: DiscardDomino"),
        ("NoCastle", "kingdomino", "castle", "NotImplementedError: PlaceCastle"),
        ("NoGift", "alhambra", "give-tile", "NotImplementedError: GiveTile"),
        ("NoSwap", "alhambra", "rebuilding", "NotImplementedError: RebuildSwap"),
        ("NoSecond", "rollwrite", "build-second", "NotImplementedError: BuildSecond"),
        ("TableOf500", "alhambra", "many-moves", "IndexError"),
        ("TableOf4096", "alhambra", "full-list", "IndexError"),
        ("PlansWithoutPasses", "alhambra", "forced-pass", "nobody decides"),
        ("OneForAll", "kingdomino", "two-games", "whose game is this?"),
    ],
)
def test_a_planted_bot_is_found(bot: str, game: str, check: str, told: str) -> None:
    limit_s = 1.0 if bot == "Hangs" else 60.0
    found = failed(
        asked(subject(f"tests.clients.planted:{bot}"), game, {"random-games", "transcripts", check}, limit_s)
    )
    assert told in found.get(check, ""), found


_READS = """
import json, sys
for line in sys.stdin:
    told = json.loads(line)
    if "hello" in told:
        print({hello!r}, flush=True)
    elif "turn" in told:
        print('{{"move":0}}', flush=True)
    {more}
{after}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("more", "after", "hello", "check", "told"),
    [
        ("", "", '{"nom":"x"}', "starts", 'expected {"name":"…"} with its name'),
        ("", "", '{"name":"x","games":["alhambra"]}', "starts", "plays alhambra, not kingdomino"),
        ("elif 'new' not in told: sys.exit('what?')", "", '{"name":"x"}', "unknown-lines", "what?"),
        ("else: print('{}', flush=True)", "", '{"name":"x"}', "starts", "{}"),
        ("", "import time; time.sleep(60)", '{"name":"x"}', "exits", "had to be killed"),
    ],
)
def test_a_planted_program_is_found(more: str, after: str, hello: str, check: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(_READS.format(more=more, after=after, hello=hello))
    bot = subject(f"exec:{shlex.join([sys.executable, str(tmp_path / 'bot.py')])}")
    found = failed(asked(bot, "kingdomino", {"starts", check}))
    assert told in found.get(check, ""), found


@pytest.mark.parametrize("game", registry.names())
def test_nothing_is_found_in_a_bot_that_is_right(game: str) -> None:
    bot = OfflineChecks(subject("tests.clients.planted:Honest"), game, games=3, p99_s=20.0, limit_s=60.0, share_s=0.3)
    results = list(bot.results(ASKED))
    assert not failed(results)
    assert {result.status for result in results} == {Status.PASSED}
    assert {*rare(game)} < {result.check.id for result in results}


# --- bots that are played against ----------------------------------------------------------------------------------


@asynccontextmanager
async def referees(folder: Path, number: int) -> AsyncIterator[list[Referee]]:
    """One, or one and another that is stopped and started again."""
    async with Children(folder) as children, AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Referee(children, folder / name).relayed()) for name in NAMES[:number]]


async def played(
    fault: str, there: Sequence[Referee], folder: Path, wanted: Collection[str], game: str = "kingdomino"
) -> list[Result]:
    """Return the results of the checks that play against it."""
    command = [sys.executable, "-m", "tests.clients.planted_client", fault, "{join}", "{key}"]
    bot = subject(f"grpc:{shlex.join(command)}")
    async with AsyncExitStack() as stack:
        scenes = []
        for name, referee in zip(NAMES, there, strict=False):
            (folder / name).mkdir(parents=True)
            scenes.append(await stack.enter_async_context(Scene(bot, game, referee, folder / name)))
        patience = {"stays": AFTER, "impatient": OFTEN}.get(fault, SOON if fault in NOTHING_COMES else WAITS)
        playing = NetworkChecks(game, (scenes[0], scenes[-1]), patience, is_client=True)
        return [result async for result in playing.results(wanted)]


PLANTED = [
    ("never-joins", "joins", "had not taken its seat"),
    ("fails-at-the-end", "plays", "exit code 1; expected 0 once the game is over: GivesUp: I lost"),
    ("stays", "plays", "still running 10 s after GAME_OVER"),
    ("slow", "clock", "its time was up"),
    ("one-at-a-time", "two-games", "another one is running"),
    ("gives-up-when-stale", "stale-head", "before the game was over"),
    ("one-stream", "cuts", "before the game was over"),
    ("any-closing", "closings", "it ended with exit code 0 before the game was over"),
    ("any-closing", "draining", "it ended with exit code 0"),
    ("soon-gone", "restart", "Unreachable"),
    ("forgets-its-key", "resumes", "was taken with another key"),
    ("waits-after-a-refusal", "refused", "the game was not over after 20 s"),
    ("one-stream", "garbage", "before the game was over"),
    ("strict-fields", "unknown-fields", "unknown fields"),
    ("waits-for-ever", "silence", "the game was not over after 12 s"),
    ("impatient", "paces", "attempts in 15 s; expected at most"),
    ("signs-again", "same-bytes", "acts for the head of"),
    ("tells-its-token", "secrets", "its token is in what it wrote"),
    ("tells-its-key", "secrets", "its private key is in what it wrote"),
]
NOTHING_COMES = {"never-joins", "slow", "waits-after-a-refusal", "waits-for-ever"}
SAMPLE = {"signs-again", "strict-fields"}


SELDOM = [
    ("NeedsAChoice", "alhambra", "one-move", "IndexError"),
    ("NoGift", "alhambra", "give-tile", "NotImplementedError: GiveTile"),
    ("NoSwap", "alhambra", "rebuilding", "NotImplementedError: RebuildSwap"),
    ("TableOf128", "alhambra", "many-moves", "IndexError"),
    ("reads-4096", "alhambra", "full-list", "GivesUp: 5000 moves"),
    ("NeedsAChoice", "kingdomino", "one-move", "IndexError"),
    ("NoCastle", "kingdomino", "castle", "NotImplementedError: PlaceCastle"),
    ("NoDiscard", "kingdomino", "discard-only", "NotImplementedError: DiscardDomino"),
    ("TableOf20", "kingdomino", "many-moves", "IndexError"),
    ("NeedsAChoice", "rollwrite", "one-move", "IndexError"),
    ("NoCoins", "rollwrite", "coins-only", "NotImplementedError: GetCoins"),
    ("NoPair", "rollwrite", "keep-pair", "NotImplementedError: KeepPair"),
    ("NoSecond", "rollwrite", "build-second", "NotImplementedError: BuildSecond"),
    ("TableOf128", "rollwrite", "many-moves", "IndexError"),
]
"""Bots that a client plays with, in a game that has come to a position that seldom comes."""


def test_every_check_of_a_played_bot_finds_something() -> None:
    assert {check for _, check, _ in PLANTED} == {*PLAYED, "two-games"}
    there = {(game, check) for game in registry.names() for check in ids(game, is_client=True)}
    assert {(game, check) for _, game, check, _ in SELDOM} == {
        (game, check) for game, check in there if check not in {*PLAYED, "two-games"}
    }


@pytest.mark.long
@pytest.mark.parametrize("game", registry.names())
async def test_planted_bots_are_found_in_seldom_positions(game: str, tmp_path: Path) -> None:
    """In a game that is brought there; and nothing is found in a client that is right."""

    async def missed(there: Sequence[Referee], bot: str, check: str, told: str) -> str:
        fault = bot if bot.islower() else f"as-{bot}"
        found = failed(await played(fault, there, tmp_path / f"{bot}-{check}", {check}, game))
        return "" if told in found.get(check, "") else f"{bot}: {check} found {found}; expected {told}"

    async with referees(tmp_path, 1) as there:
        planted = [(bot, check, told) for bot, of, check, told in SELDOM if of == game]
        assert {*await asyncio.gather(*(missed(there, *one) for one in planted))} == {""}
        wanted = {check for _, check, _ in planted}
        results = await played("reads-5000", there, tmp_path / "right", wanted, game)
    assert {(result.check.id, result.status) for result in results} == {(check, Status.PASSED) for check in wanted}


@pytest.mark.long
@pytest.mark.parametrize(
    "faults", [SAMPLE, campaign({fault for fault, _, _ in PLANTED} - SAMPLE)], ids=["sample", "campaign"]
)
async def test_planted_clients_are_found(faults: Collection[str], tmp_path: Path) -> None:
    """All at one time, as most of it is waiting."""

    async def missed(there: Sequence[Referee], fault: str, check: str, told: str) -> str:
        wanted = {"cuts", "same-bytes"} if check == "same-bytes" else {check}
        found = failed(await played(fault, there, tmp_path / f"{fault}-{check}", wanted))
        return "" if told in found.get(check, "") else f"{fault}: {check} found {found}; expected {told}"

    async with referees(tmp_path, 1 if faults == SAMPLE else 2) as there:
        assert {*await asyncio.gather(*(missed(there, *one) for one in PLANTED if one[0] in faults))} == {""}


@pytest.mark.long
async def test_nothing_is_found_in_a_client_that_is_right(tmp_path: Path) -> None:
    async with referees(tmp_path, 2) as there:
        results = await played("silence-1", there, tmp_path / "all", {*CATALOGUE} - {"clock"})
    assert not failed(results)
    assert {result.check.id for result in results} == {*ids("kingdomino", is_client=True)} - {"clock"}


@pytest.mark.long
def test_the_bot_in_javascript_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node(tmp_path)
    monkeypatch.setenv("REFEREE_PROTO", node.env["REFEREE_PROTO"])
    bot = f"grpc:node {node.folder}/bot.mjs --join @{{join}} --key {{key}} --verifier {{verifier}}"
    everything = ids("rollwrite", is_client=True)
    seldom = {*ids("alhambra", is_client=True)} - {*everything}
    for game, checks in (("rollwrite", {*everything} - {"silence"}), ("alhambra", seldom)):
        some = [f"--only={check}" for check in sorted(checks)]
        done = command.referee("bot-check", bot, "--game", game, "--json", *some)
        assert done.returncode == 0, done.stdout
        made = json.loads(done.stdout)["checks"]
        assert {check["id"]: check["status"] for check in made} == dict.fromkeys(checks, "passed")


# --- the command ---------------------------------------------------------------------------------------------------


def test_the_command_tells_of_each_failure_with_rule_and_page(tmp_path: Path) -> None:
    wanted = [word for check in ("starts", "castle", "secrets") for word in ("--only", check)]
    bot = "tests.clients.planted:NoCastle"
    done = referee("bot-check", bot, "--game", "kingdomino", *wanted[:4], "--junit", str(tmp_path / "junit.xml"))
    assert done.returncode == 3
    assert re.search(r"castle, kingdomino: it raised NotImplementedError: PlaceCastle", done.stdout)
    assert "With a fixed frame the castle is placed first. See docs/bots.md#kingdomino" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 passed, 2 failed, 0 skipped"
    cases = ElementTree.fromstring((tmp_path / "junit.xml").read_text()).findall("testsuite/testcase")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["starts", "castle"]


def test_it_says_which_words_are_wrong() -> None:
    for words, said in (
        (["nobody"], "no bot 'nobody'"),
        (["grpc:"], 'no bot "grpc:": expected grpc:COMMAND'),
        (["grpc:./nowhere"], 'there is no program "./nowhere"'),
        (["tests.clients.planted:Honest"], "in which game? expected --game, one of alhambra"),
        (["greedy", "--game", "chess"], "--game chess: expected one of alhambra"),
        (["greedy", "--only", "exits"], "--only exits: there is no such check of greedy in alhambra, kingdomino"),
        (["greedy", "--game", "kingdomino", "--only", "rebuilding"], "no such check of greedy in kingdomino"),
        (["greedy", "--only", "everything"], "--only everything: no such check; expected one of starts"),
        (["builder", "--game", "alhambra"], "no bot 'builder' for alhambra"),
    ):
        done = referee("bot-check", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def of_command(bot: str, *only: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """Return the exit code, and what came of each check."""
    done = referee("bot-check", bot, "--game", "kingdomino", "--json", *[f"--only={check}" for check in only])
    return done.returncode, {each["id"]: (each["status"], each["told"]) for each in json.loads(done.stdout)["checks"]}


def test_a_bot_that_ends_the_process_fails_the_check_that_asked_it() -> None:
    code, made = of_command("tests.clients.planted:EndsTheProcess", "starts", "castle")
    assert code == 3
    assert made["starts"] == ("failed", "the process that asked the bot ended with exit code 0; expected an answer")
    assert made["castle"][0] == "skipped"


def test_what_a_bot_prints_is_not_in_the_document() -> None:
    assert of_command("tests.clients.planted:Prints", "starts") == (0, {"starts": ("passed", "")})


def test_a_bot_that_plays_no_game_is_not_good(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(_READS.format(more="", after="", hello='{"name":"x","games":["chess"]}'))
    done = referee("bot-check", f"exec:{shlex.join([sys.executable, str(tmp_path / 'bot.py')])}")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing was checked: the bot plays chess; expected one of alhambra" in done.stderr


@pytest.mark.long
def test_a_client_that_cannot_be_started_fails(tmp_path: Path) -> None:
    (tmp_path / "client").write_bytes(b"\x00\x01\x02")
    (tmp_path / "client").chmod(0o755)
    code, made = of_command(f"grpc:{tmp_path / 'client'}", "joins", "secrets")
    assert (code, *made.values()) == (3, *[("failed", "it cannot be started: Exec format error")] * 2)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody adopts what is left behind")
def test_no_program_outlives_the_checks(tmp_path: Path) -> None:
    stays = f"open({str(tmp_path)!r} + f'/{{os.getpid()}}.pid', 'w').close()\nimport time\ntime.sleep(600)"
    code = _READS.format(more="", after=stays, hello='{"name":"x"}').replace("import json", "import os, json")
    (tmp_path / "bot.py").write_text(code)
    assert of_command(f"exec:{shlex.join([sys.executable, str(tmp_path / 'bot.py')])}", "resumes")[0] == 0
    left = [path.stem for path in tmp_path.glob("*.pid") if Path(f"/proc/{path.stem}").exists()]
    assert list(tmp_path.glob("*.pid"))
    assert not left


def test_what_a_bot_writes_is_shown_without_what_steers_a_terminal() -> None:
    result = Result(CATALOGUE["starts"], "kingdomino", Status.FAILED, "it raised \x1b[2J <&> \ud800")
    assert ElementTree.fromstring(as_junit("x\x00", [result])).get("name") == "referee bot-check x\ufffd"
    assert json.loads(as_json("x", [result]))["checks"][0]["told"].startswith("it raised")


def test_every_page_has_its_section() -> None:
    page = (ROOT / "docs" / "bot-check.md").read_text(encoding="utf-8")
    for check in CATALOGUE.values():
        file, _, section = check.page.partition("#")
        headings = re.findall(r"^#+ (.*)", (ROOT / "docs" / file).read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert not section or section in slugs, check.page
        assert f"| `{check.id}` | {check.rule} |" in page, check.id


def test_an_unknown_bot_is_told_of() -> None:
    with pytest.raises(UnknownBot, match="No closing quotation"):
        subject("grpc:'node")


# --- a look without playing ----------------------------------------------------------------------------------------


def found(name: str, game: str = "kingdomino") -> dict[str, str]:
    """Return the findings, by id."""
    return {each.id: each.told for each in look(name, game)}


@pytest.mark.parametrize(
    ("bot", "game", "rule", "told"),
    [
        ("Exits", "kingdomino", "imports", "it cannot be made without arguments: SystemExit: 0"),
        ("Leaves", "rollwrite", "raises", "SystemExit: 7"),
        ("NeedsArguments", "kingdomino", "imports", "it cannot be made without arguments: TypeError"),
        ("OneArgument", "kingdomino", "signature", "choose(observation: 'Any') -> 'Any' cannot be called with"),
        ("AsyncChoose", "kingdomino", "signature", "choose is async"),
        ("Beginner", "kingdomino", "signature", "begin() -> 'None' cannot be called with (table)"),
        ("RaisesAtTen", "kingdomino", "raises", "ZeroDivisionError: boom"),
        ("NoneAtFive", "alhambra", "not-a-legal-move", "None is against "),
        ("Illegal", "alhambra", "not-a-legal-move", "is against ALH-C"),
        ("Overpays", "alhambra", "not-of-the-list", "is legal, but not one of the list"),
        ("NotTheSame", "kingdomino", "not-deterministic", "random game 1, decision "),
        ("SharesItsCount", "kingdomino", "shared-state", "beside another game it chooses otherwise"),
    ],
)
def test_what_is_wrong_is_found(bot: str, game: str, rule: str, told: str) -> None:
    assert told in found(f"tests.clients.planted:{bot}", game).get(rule, "")


def test_what_looks_beyond_its_seat_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "peeks.py").write_text(
        "import gc, sys\nfrom referee.log import deck\n\n"
        "def choose(observation, legal_moves):\n    sys._getframe(1)\n    return legal_moves[0]\n"
    )
    (tmp_path / "slow.py").write_text("import time\ntime.sleep(1.1)\nfrom peeks import choose\n")
    monkeypatch.syspath_prepend(tmp_path)
    told = [each.told for each in look("peeks:choose", "kingdomino")]
    assert [each.split(":")[0] for each in told] == ["peeks.py, line 1", "peeks.py, line 2", "peeks.py, line 5"]
    assert found("slow:choose")["slow-import"].startswith("it took ")


@pytest.mark.parametrize(
    ("bot", "game"), [("random", "rollwrite"), ("greedy", "kingdomino"), ("tests.clients.planted:Honest", "alhambra")]
)
def test_a_look_finds_nothing_in_a_bot_that_is_right(bot: str, game: str) -> None:
    assert not found(bot, game)


def test_programs_are_looked_at_as_well(tmp_path: Path) -> None:
    example = ROOT / "docs" / "examples" / "bots" / "mybot.py"
    assert not found(f"exec:{shlex.join([sys.executable, str(example)])}")
    (tmp_path / "bot.py").write_text(example.read_text().replace("json.dumps(answer)", "json.dumps({'move': 99})"))
    assert "answered" in found(f"exec:{shlex.join([sys.executable, str(tmp_path / 'bot.py')])}")["raises"]


def test_bot_lint_says_what_it_is_a_part_of() -> None:
    words = "greedy", "--game", "kingdomino"
    done = referee("bot-lint", *words)
    assert done.stderr == "bot-lint is a part of bot-check: referee bot-check BOT --game GAME --lint\n"
    assert done.stdout == referee("bot-check", *words, "--lint").stdout == "nothing was found\n"


@pytest.mark.parametrize("words", [(), ("--game", "kingdomino", "--game", "alhambra")])
def test_a_look_is_in_one_game(words: Sequence[str]) -> None:
    done = referee("bot-check", "greedy", "--lint", *words)
    assert (done.returncode, "--lint: in which game?" in done.stderr) == (2, True)


def test_a_look_makes_no_checks() -> None:
    done = referee("bot-check", "greedy", "--game", "kingdomino", "--lint", "--move-limit", "2s")
    assert (done.returncode, "--move-limit: --lint makes no checks" in done.stderr) == (2, True)


@pytest.mark.parametrize("words", [("bot-lint",), ("bot-check", "--lint")])
def test_the_command_shows_rule_and_page(words: Sequence[str]) -> None:
    done = referee(*words, "tests.clients.planted:AsyncChoose", "--game", "kingdomino")
    assert done.returncode == 3
    assert done.stdout.splitlines()[-3:] == [
        "signature: choose is async; expected a function that returns",
        f"  {RULES['signature'].rule} See docs/bots.md#what-you-get",
        "1 found",
    ]
    clean = referee(*words, "greedy", "--game", "kingdomino", "--json")
    assert (clean.returncode, json.loads(clean.stdout)["found"]) == (0, [])
    wrong = referee(*words, "greedy", "--game", "chess")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "--game chess: expected one of alhambra" in wrong.stderr


@pytest.mark.parametrize(
    ("bot", "code", "said"),
    [
        ("nobody", 2, "no bot 'nobody'"),
        ("planted:NoSuchBot", 2, "module 'tests.clients.planted' has no attribute"),
        ("planted:NoSuchMethod", 2, "it has no method choose"),
        ("planted:EndsTheProcess", 1, "the process that looked at the bot ended with exit code 0: goodbye"),
    ],
)
def test_a_bot_that_cannot_be_looked_at_is_told_of_in_one_line(bot: str, code: int, said: str) -> None:
    name = bot.replace("planted:", "tests.clients.planted:")
    done = referee("bot-lint", name, "--game", "kingdomino")
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    if code == 2:
        assert referee("bot-check", name, "--game", "kingdomino", "--only", "plays").returncode == 2


def test_every_rule_is_on_the_page() -> None:
    page = (ROOT / "docs" / "bot-check.md").read_text(encoding="utf-8")
    assert all(f"| `{rule.id}` | {rule.rule} |" in page for rule in RULES.values())
