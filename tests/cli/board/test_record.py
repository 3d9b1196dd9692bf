"""``referee record`` and ``referee show --notation`` as their users run them: between texts and logs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.cli.shared import game_texts
from referee.games.alhambra import chance
from referee.games.game import Ending
from referee.games.results import Contest, Result
from referee.log.keys import PrivateKey
from referee.log.note import VerifierKey
from referee.text.notation.game_text import GameText, read, write
from referee.text.notation.headers import Setup
from tests.cli.inside import referee
from tests.log import registered
from tests.log.games import play
from tests.text.notation.setups import PLAIN, SETUPS, name_of, text_of
from tests.text.notation.setups import play as played

ORIGIN = "club.example"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the keys of a scribe and of a referee."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("scribe", "referee"):
        PrivateKey.generate().save(folder / f"{name}.pem")
    return folder


def verifier(keys: Path, name: str = "referee") -> str:
    return str(VerifierKey.of(ORIGIN, PrivateKey.load(keys / f"{name}.pem").public))


def recorded(keys: Path, text: Path, out: Path, *more: str) -> tuple[int, str, str]:
    made = ("--key", keys / "scribe.pem", "--referee-key", keys / "referee.pem", "--origin", ORIGIN)
    done = referee("record", text, *made, "--out", out, *more)
    return done.returncode, done.stdout, done.stderr


def shown(*words: str | Path) -> tuple[int, str, str]:
    done = referee("show", *words)
    return done.returncode, done.stdout, done.stderr


ABORTED = Contest(ruled=Result(Ending.ABORTED))


def own_components(setup: Setup) -> bool:
    return setup.components is not None


@pytest.mark.parametrize("setup", [PLAIN[0], *filter(own_components, SETUPS), SETUPS[5]], ids=name_of)
def test_a_text_becomes_a_log_that_is_complete_and_says_the_same(setup: Setup, keys: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(write(text_of(setup, played(setup, seed=6))), encoding="utf-8")
    code, told, _ = recorded(keys, text, out)
    assert code == 0
    assert f"verifier key {verifier(keys)}" in told
    scribe = PrivateKey.load(keys / "scribe.pem").public.raw.hex()
    done = referee("audit", out, "--key", verifier(keys), "--scribe-key", f"0={scribe}")
    assert done.stdout.startswith("COMPLETE\n")
    assert referee("show", out, "--notation").stdout == text.read_text(encoding="utf-8")


def cut_by_eye(monkeypatch: pytest.MonkeyPatch) -> str:
    """A game whose first pile had three cards less than a fifth, with scoring card A near the top of the second."""

    def uneven(cards: int) -> tuple[tuple[int, ...]]:
        fifth = cards // 5
        return ((fifth - 3, fifth + 3, fifth, fifth, cards - 4 * fifth),)

    monkeypatch.setattr(chance, "splits", uneven)
    for seed in range(20):
        setup = PLAIN[0]
        game = played(setup, seed)
        if game.state.comments():
            return write(text_of(setup, game))
    raise AssertionError


def test_piles_that_were_cut_by_eye_are_a_record_with_a_comment(
    keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ALH-F3: an honest table's game has a score and a log, and both mention the piles."""
    words = "money cards were not cut into five equal piles (ALH-F3): scoring card A came after"
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_text(cut_by_eye(monkeypatch), encoding="utf-8")
    assert referee("adjudicate", text).returncode == 0
    assert words in " ".join(referee("score", text).stdout.split())
    in_slovak = " ".join(referee("score", text, "--language", "sk").stdout.split())
    assert words not in in_slovak
    assert "neboli rozdelené na päť rovnakých kôpok (ALH-F3): bodovacia karta A prišla po" in in_slovak
    code, _, _ = recorded(keys, text, out)
    assert code == 0
    audit = referee("audit", out, "--key", verifier(keys))
    assert audit.stdout.startswith("COMPLETE\n")
    assert words in audit.stdout
    assert words in " ".join(referee("report", out, "--key", verifier(keys)).stdout.split())
    # Version 1 of the rules refuses it as ever, in its own words.
    text.write_text(text.read_text(encoding="utf-8").replace('[Version "2"]', '[Version "1"]'), encoding="utf-8")
    remedy = 'expected the header [Version "2"]: by its rules this line is legal'
    made = ("--key", keys / "scribe.pem", "--referee-key", keys / "referee.pem", "--out", tmp_path / "no.gamelog")
    for command in (("score",), ("show",), ("record", *made)):
        refused = referee(command[0], text, *command[1:])
        assert refused.returncode == 8
        assert "five piles that differ by one card at most" in refused.stderr
        assert refused.stderr.endswith(f"; {remedy}\n")
    told = " ".join(referee("adjudicate", text).stdout.split())
    assert '-> the adjudication ends here; with the header [Version "2"] it is legal' in told
    # Lines that no version allows get no such remedy.
    text.write_text(text.read_text(encoding="utf-8").replace("\nmarket: ", "\nmarket: tower-12 tower-12 ", 1))
    assert "Version" not in referee("show", text).stderr


def test_a_text_that_breaks_off_becomes_a_prefix_and_an_aborted_game_is_complete(keys: Path, tmp_path: Path) -> None:
    setup = PLAIN[1]
    events = tuple(played(setup, seed=7).events[:20])
    for game, code, verdict in ((GameText(setup, events), 3, "PREFIX"), (GameText(setup, events, ABORTED), 0, "COMPL")):
        text, out = tmp_path / f"{verdict}.txt", tmp_path / f"{verdict}.gamelog"
        text.write_text(write(game), encoding="utf-8")
        assert recorded(keys, text, out)[0] == 0
        done = referee("audit", out, "--key", verifier(keys))
        assert (done.returncode, done.stdout[:5]) == (code, verdict[:5])
        assert referee("show", out, "--notation").stdout == text.read_text(encoding="utf-8")


def test_the_first_thing_that_is_wrong_stops_it_and_nothing_is_written(keys: Path, tmp_path: Path) -> None:
    head = '[Game "kingdomino"]\n[Seats "2"]\n'
    start = f"{head}0: castle 2,2\n1: castle 2,2\nfirst order: 0 1 0 1\nline: 3 5 17 22\n"
    out = tmp_path / "game.gamelog"
    for name, content, code, message in (
        ("syntax", f"{head}0: castel 2,2\n", 2, "line 3, column 4: syntax: found 'castel'; expected castle, choose"),
        (
            "illegal",
            f"{start}0: choose 4\n1: choose 4",
            8,
            "line 7, column 1: illegal: 0: choose 4 forest/forest: KDO-5",
        ),
        ("stalled", f'{head}[Result "stalled"]\n', 2, "the text does not show its cause"),
        ("resigned", f'{head}[Result "resigned"]\n', 2, "the text does not show its cause"),
        (
            "penalties",
            f'{head}[Penalties "100001 0"]\n',
            2,
            "[Penalties]: more than 100000 points off a seat",
        ),
        ("latin", f"{head}; \udce4\n", 2, "byte 34 is not UTF-8"),
    ):
        text = tmp_path / name
        text.write_text(content, encoding="utf-8", errors="surrogateescape")
        found, told, wrong = recorded(keys, text, out)
        assert (found, told) == (code, "")
        assert f"referee: {text}: {message}" in wrong or message in wrong
        assert wrong.count("\n") == 1
        assert not out.exists()


def test_one_key_for_both_and_a_file_that_is_there(keys: Path, tmp_path: Path) -> None:
    text = tmp_path / "game.txt"
    text.write_text(write(GameText(PLAIN[2], ())), encoding="utf-8")
    key = keys / "scribe.pem"
    done = referee("record", text, "--key", key, "--referee-key", key, "--out", tmp_path / "one")
    assert (done.returncode, done.stderr) == (
        2,
        "referee: --key and --referee-key: the same key twice; expected two different keys\n",
    )
    made = ("--key", key, "--referee-key", keys / "referee.pem", "--out", tmp_path / "one")
    done = referee("record", text, *made, "--origin", "a b")
    assert (done.returncode, "--origin: name 'a b'; expected a name of printable ASCII" in done.stderr) == (2, True)
    assert not (tmp_path / "one").exists()
    out = tmp_path / "there"
    out.write_text("mine", encoding="ascii")
    assert recorded(keys, text, out)[0] == 1
    assert out.read_text(encoding="ascii") == "mine"


def test_the_text_of_a_dealt_game_with_refused_attempts_is_that_of_what_was_played(tmp_path: Path) -> None:
    game = registered.play_with_attempts(registered.opened("kingdomino", seats=2, recorded=True), seed=3)
    file, text = tmp_path / "game.gamelog", tmp_path / "game.txt"
    file.write_bytes(game.file())
    assert "refused (KDO-" in referee("show", file, "--moves").stdout
    done = referee("show", file, "--notation")
    assert (done.returncode, done.stderr) == (0, "")
    text.write_text(done.stdout, encoding="utf-8")
    shown = referee("show", text, "--moves", "--seat", "1", "--svg", tmp_path / "one.svg")
    assert shown.returncode == 0
    assert shown.stdout.startswith(done.stdout.split("\n\n")[0])
    assert "Player 2 after event" in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_a_signed_text_is_checked(keys: Path, tmp_path: Path) -> None:
    game = play(registered.opened("alhambra", seats=4), registered.at_random(1))
    file, text = tmp_path / "game.gamelog", tmp_path / "game.txt"
    file.write_bytes(game.file())
    plain = referee("show", file, "--notation").stdout
    done = referee("show", file, "--notation", "--sign", keys / "referee.pem", "--name", ORIGIN)
    assert done.stdout.startswith(f"{plain}\n\u2014 {ORIGIN} ")
    assert done.stderr == f"verifier key {verifier(keys)}\n"
    text.write_text(done.stdout, encoding="utf-8")
    for options, notice in (
        ((), f"{text}: signed by {ORIGIN}; signature not checked\n"),
        (("--key", verifier(keys)), ""),
    ):
        again = referee("show", text, "--notation", *options)
        assert (again.returncode, again.stdout, again.stderr) == (0, plain, notice)
    other = referee("show", text, "--key", verifier(keys, "scribe"))
    assert (other.returncode, "UNTRUSTED_KEY" in other.stderr) == (5, True)
    text.write_text(re.sub("^; round 1", "; Round 1", done.stdout, flags=re.MULTILINE), encoding="utf-8")
    forged = referee("show", text, "--key", verifier(keys))
    assert (forged.returncode, "NOTE_SIGNATURE" in forged.stderr) == (4, True)
    text.write_text(plain, encoding="utf-8")
    bare = referee("show", text, "--key", verifier(keys))
    assert (bare.returncode, "the text is not signed" in bare.stderr) == (4, True)


def test_a_signed_text_is_recorded_if_it_is_signed_by_whom_it_should_be(keys: Path, tmp_path: Path) -> None:
    plain = write(GameText(PLAIN[1], tuple(played(PLAIN[1], seed=7).events[:4])))
    signed = game_texts.signed(plain, ORIGIN, PrivateKey.load(keys / "referee.pem"))
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    for content, key, code, message in (
        (plain, "referee", 4, "NOTE: the text is not signed"),
        (signed, "scribe", 5, "UNTRUSTED_KEY: signed by club.example"),
        (signed.replace("0: castle", "0:  castle"), "referee", 4, "NOTE_SIGNATURE: "),
    ):
        text.write_text(content, encoding="utf-8")
        found, told, wrong = recorded(keys, text, out, "--text-key", verifier(keys, key))
        assert (found, told, out.exists()) == (code, "", False)
        assert wrong.startswith(f"referee: {text}: {message}")
    text.write_text(signed, encoding="utf-8")
    for more, notice in (
        ((), f"{text}: signed by {ORIGIN}; signature not checked\n"),
        (("--text-key", verifier(keys)), ""),
    ):
        found, _, wrong = recorded(keys, text, out, *more)
        assert (found, wrong) == (0, notice)
        assert referee("show", out, "--notation").stdout == plain
        out.unlink()


CR_LF = "NOTE: the lines of this signed text end with CR LF; expected LF, as when it was signed"
BOM = "begins with a byte order mark; expected UTF-8 without one"


@pytest.mark.parametrize(
    ("before", "ends", "code", "message"),
    [(b"", b"\r\n", 4, CR_LF), (b"\xef\xbb\xbf", b"\n", 2, BOM), (b"\xef\xbb\xbf", b"\r\n", 2, BOM)],
    ids=["CR LF", "BOM", "both"],
)
def test_what_an_editor_does_to_a_signed_text(
    before: bytes, ends: bytes, code: int, message: str, keys: Path, tmp_path: Path
) -> None:
    """One line says what it was, to every reader."""
    signed = game_texts.signed(write(GameText(PLAIN[1], ())), ORIGIN, PrivateKey.load(keys / "referee.pem"))
    text, out = tmp_path / "game.txt", tmp_path / "game.gamelog"
    text.write_bytes(before + signed.encode().replace(b"\n", ends))
    for found in (recorded(keys, text, out), shown(text), shown(text, "--key", verifier(keys))):
        assert found == (code, "", f"referee: {text}: {message}\n")
    assert not out.exists()


def test_a_dash_in_a_comment_is_no_signature(tmp_path: Path) -> None:
    text = tmp_path / "game.txt"
    text.write_text('[Game "kingdomino"]\n[Seats "2"]\n\n; as it was played\n\n; \u2014 by hand\n', encoding="utf-8")
    assert game_texts.read(text, read).game.setup.seats == 2


def test_a_position_is_printed_and_drawn(tmp_path: Path) -> None:
    game = play(registered.opened("kingdomino", seats=3), registered.at_random(2))
    file, text = tmp_path / "game.gamelog", tmp_path / "position.txt"
    file.write_bytes(game.file())
    done = referee("show", file, "--position", "--at", "40")
    assert done.stdout.startswith('[Game "kingdomino"]\n[Version "1"]\n[Seats "3"]\n[Position "')
    text.write_text(done.stdout, encoding="utf-8")
    board = referee("show", file, "--at", "40").stdout.split("\n\n", 1)[1]
    assert referee("show", text).stdout.endswith(board)
    assert referee("show", text, "--position").stdout == done.stdout
    assert referee("show", text, "--notation").stdout == done.stdout


def test_options_that_do_not_fit_together(keys: Path, tmp_path: Path) -> None:
    text = tmp_path / "game.txt"
    text.write_text(write(GameText(PLAIN[2], ())), encoding="utf-8")
    for options, message in (
        (("--sign", keys / "referee.pem"), "--sign and --name: expected both, with --notation or --position"),
        (("--notation", "--name", "x"), "--sign and --name: expected both"),
        (("--at", "3"), "--at is only for game files"),
        (("--notation", "--sign", keys / "referee.pem", "--name", "a b"), "--name: name 'a b'"),
        (("--notation", "--sign", keys / "none.pem", "--name", "a"), "No such file"),
    ):
        done = referee("show", text, *options)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
