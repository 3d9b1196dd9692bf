"""``referee rule``, ``protest``, ``appeal``, ``take-back``, ``consent``, ``resign``, ``docket`` at a real referee."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from referee.log.verdict import Verdict
from referee_clients.join import format_join
from tests.cli.command import REFEREE
from tests.cli.rule import Club, Game, declared, here
from tests.cli.terminal import at_a_terminal

ON = ("--rule", "TBL-2")


@dataclass(frozen=True)
class Ruled:
    """A game at the club's table, and what commands do in it. They fail the test unless they end with 0."""

    club: Club
    game: Game

    def rule(self, kind: str, *words: object, arbiter: int = 0) -> str:
        """Return what `referee rule` prints."""
        number = ("--arbiter", arbiter) if arbiter else ()
        return self._done("rule", kind, self.game.id, *words, *self.game.by("arbiter", f"arbiter{arbiter}"), *number)

    def by_scribe(self, word: str, *words: object) -> str:
        """Return what the command of the scribe, for player 1, prints."""
        return self._done(word, self.game.id, *words, *self.game.by("scribe"), "--scribe", 0, "--seat", 0)

    def refused(self, kind: str, *words: object) -> tuple[int, str]:
        """Return the exit code of a ruling of arbiter 0, and the error."""
        code, _, error = here("rule", kind, self.game.id, *words, *self.game.by("arbiter", "arbiter0"), "--yes")
        return code, error

    def docket(self) -> str:
        code, told, _ = here("docket", self.game.id, "--server", self.club.address)
        assert code == 0
        return told

    def _done(self, *words: object) -> str:
        code, told, error = here(*words, "--yes")
        assert (code, error) == (0, ""), (words, error)
        return told


def entry(told: str) -> int:
    """Return the number of the entry that a command says it made."""
    return int(told.rpartition(" ")[2])


@pytest.fixture
def ruled(club: Club) -> Ruled:
    return Ruled(club, declared(club, "--clock", "10m+5s", "--lag", "1s", "--illegal", "strikes:9", "--take-backs"))


def test_a_game_is_paused_adjourned_and_resumed(ruled: Ruled) -> None:
    ruled.game.until("place_domino")
    assert "no forfeits, no disputes, no rulings" in ruled.docket()
    assert "the game is paused" in ruled.rule("pause", "--reason", "the fire\nalarm")
    assert '"the fire alarm"' in ruled.docket()
    assert "the game is adjourned" in ruled.rule("adjourn")
    assert "\nthe game is adjourned\n" in ruled.docket()
    assert "play resumes" in ruled.rule("resume")


def test_clocks_penalties_and_forfeits(ruled: Ruled) -> None:
    ruled.game.until("place_domino")
    told = ruled.rule("set-clock", "--seat", 1, "--left", "1m30s", *ON)
    assert "player 2 has 1m30s left (TBL-2)\nthe clock showed " in told
    told = ruled.rule("penalty", "--seat", 1, "--time", "30s", "--points", 2, "--strikes", 1, *ON)
    assert "player 2: 30s off the clock, 2 points off the score, 1 strike (TBL-2)" in told
    assert "player 2: a warning" in ruled.rule("penalty", "--seat", 1, *ON)
    told = ruled.rule("forfeit", "--seat", 2, "--ending", "illegal-moves", *ON)
    assert "player 3 forfeits (illegal moves)" in told
    assert "player 3: out (illegal moves)\n" in ruled.docket()
    assert "player 3 plays again" in ruled.rule("reinstate", "--seat", 2, *ON)


def test_moves_are_made_for_a_seat_or_stand_against_the_rules(ruled: Ruled) -> None:
    seat = ruled.game.until("place_domino").seat_on_turn()
    assert "the stand-in's move: " in ruled.rule("skip", "--seat", seat, *ON)
    play = ruled.game.until("place_domino")
    domino = next(iter(play.record.game.position.state.legal_moves())).domino
    on_turn = ("--seat", play.seat_on_turn(), "--rule", "TBL-7")
    code, error = ruled.refused("accept", f"discard {domino} against KDO-14", *on_turn)
    assert (code, "against KDO-14; expected against KDO-13" in error or error) == (2, True)
    told = ruled.rule("accept", f"discard {domino} against KDO-13", *on_turn)
    assert "stands against KDO-13 (TBL-7)\nagainst the rules:\n  KDO-13 at " in told


def test_a_protest_is_ruled_on_appealed_and_the_game_goes_back(ruled: Ruled) -> None:
    before = ruled.game.until("place_domino").record.size - 1
    much_happens(ruled)
    told = ruled.by_scribe("protest", "--entry", before, "--rule", "KDO-1", "--reason", "why?")
    assert f"protests against entry {before} (KDO-1), for player 1" in told
    protest = entry(told)
    assert '"why?"; open: an arbiter has to rule on it' in ruled.docket()
    ruling = entry(ruled.rule("dismiss", "--decides", protest, *ON))
    appeal = entry(ruled.by_scribe("appeal", "--entry", ruling, "--rule", "KDO-1"))
    assert "(KDO-1); open: another arbiter has to rule on it\n" in ruled.docket()
    code, error = ruled.refused("dismiss", "--decides", appeal, *ON)
    assert code == 1
    assert "the appeal is against arbiter 0 (TBL-31); expected another arbiter" in error
    told = ruled.rule("restore", "--to", before, "--decides", appeal, *ON, arbiter=1)
    assert f"the game goes back to entry {before} (TBL-2), on entry {appeal}\ntaken back:\n" in told
    assert f"\n  {before + 1}  " not in told, "a pause is not taken back"
    assert f"ruled on in entry {entry(told)}" in ruled.docket()
    ends(ruled, protest)


def much_happens(ruled: Ruled) -> None:
    """A pause, a forfeit that is taken back, and a move that stands though it is illegal."""
    ruled.rule("pause", "--reason", "the fire\nalarm")
    ruled.rule("resume")
    ruled.rule("forfeit", "--seat", 2, "--ending", "illegal-moves", *ON)
    ruled.rule("reinstate", "--seat", 2, *ON)
    play = ruled.game.until("place_domino")
    domino = next(iter(play.record.game.position.state.legal_moves())).domino
    ruled.rule("accept", f"discard {domino} against KDO-13", "--seat", play.seat_on_turn(), "--rule", "TBL-7")


def ends(ruled: Ruled, protest: int) -> None:
    """An arbiter decides the game, no ruling follows, and the file has all of it."""
    told = ruled.rule("adjudicate", "--places", "2,1,2", "--scores", "5,9,5", *ON)
    assert "player 1: 5 points, place 2; player 2: 9 points, place 1" in told
    code, error = ruled.refused("void", *ON)
    assert (code, error.count("\n")) == (1, 1)
    shown(ruled.game, protest)


def shown(game: Game, protest: int) -> None:
    """The file in words, audited, and its docket, offline."""
    file = game.club.path / "final.gamelog"
    assert here("fetch", game.id, "--server", game.club.address, "--out", file)[0] == 0
    key = game.created["verifier_key"]
    assert here("audit", file, "--key", key)[0] == Verdict.COMPLETE
    _, told, _ = here("show", file, "--moves")
    for line in (
        'arbiter: pause "the fire alarm"',
        "arbiter: forfeit seat 2 illegal moves under TBL-2",
        " against KDO-13  [taken back by entry ",
        f"{protest}  0: protest against ",
        "end (adjudicated): player 1: 5 points, place 2",
    ):
        assert line in told, line
    code, told, _ = here("docket", file, "--key", key)
    assert (code, told.splitlines()[0]) == (0, "audit: COMPLETE")
    assert "protest of player 1 against entry" in told
    assert '"why?"; ruled on in entry' in told
    cut = game.club.path / "cut.gamelog"
    cut.write_bytes(file.read_bytes().replace(b"why?", b"how?"))
    code, _, error = here("docket", cut, "--key", key)
    assert (code, error.count("\n")) == (Verdict.CORRUPT, 1)


def test_it_tells_and_asks_before_it_sends(club: Club) -> None:
    game = declared(club)
    words = ("rule", "pause", game.id, *game.by("arbiter", "arbiter0"))
    for typed, said in (
        ("n\n", "nothing was sent"),
        ("\n", "nothing was sent"),
        ("", "no answer, so nothing was sent"),
    ):
        code, told, error = here(*words, typed=typed)
        assert code == 1
        assert told.startswith("arbiter 0 rules: the game is paused\nSend this? [y/N] ")
        assert said in error
    assert "no forfeits, no disputes, no rulings" in here("docket", game.id, "--server", club.address)[1]
    code, told, _ = here(*words, typed="y\n")
    assert code == 0
    assert told.endswith("entered as entry 1\n")


def test_a_ruling_on_a_game_that_goes_on(club: Club) -> None:
    game = club.new("--rules", "kingdomino")
    play = game.until("choose_domino")
    words = [game.id, "--places", "1,2", "--rule", "TBL-36", *game.by("arbiter", "arbiter0")]
    with subprocess.Popen(
        [REFEREE, "rule", "adjudicate", *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as asking:
        assert asking.stdout is not None
        assert asking.stdout.readline().startswith("place 1: p")
        assert asking.stdout.readline().startswith("place 2: p")
        assert "the game is over" in asking.stdout.readline()
        newest = game.play(lambda found: found.record.size > play.record.size).record.size - 1
        _, error = asking.communicate("y\n")
    assert asking.returncode == 1
    went = f"other entries came meanwhile: its newest entry is {newest}; your act was not entered"
    assert error == f"referee: {went}; expected a game that is paused: add --pause\n"


def test_a_seat_calls_for_an_arbiter(club: Club) -> None:
    game = club.new("--rules", "kingdomino")
    game.until("choose_domino")
    calls = 'player 2 calls for an arbiter: "the line is wrong"'
    code, told, error = here("call", game.created["joins"]["1"], "the line is wrong")
    assert (code, error, told.splitlines()[0]) == (0, "", calls)
    found = here("docket", game.id, "--server", club.address)[1]
    assert f"{calls} (call 1, since " in found
    data = ("--server", club.address, "--data", club.path / "data")
    told = here("status", *data, "--once")[1]
    assert re.search(rf"game {game.id[:8]}: {re.escape(calls)} \(\d+ s ago\)", told)
    code, _, error = here("call", game.created["joins"]["1"], "and another thing")
    assert (code, error) == (1, "referee: the referee refused: NOT_AWAITED: your call before this one is still open\n")
    code, _, error = here("call", game.created["joins"]["0"], "two\nlines")
    assert code == 2
    assert error.endswith("; expected 1 to 200 printable characters on one line\n")


def test_a_game_is_paused_before_it_is_ruled_on(club: Club) -> None:
    game = club.new("--rules", "kingdomino")
    begun = game.until("choose_domino").record.size
    newest = game.play(lambda found: found.record.size > begun).record.size - 1
    words = [game.id, "--places", "1,2", "--rule", "TBL-36", *game.by("arbiter", "arbiter0")]
    still = "the game is still paused: `referee rule resume` resumes it\n"
    code, told, error = here("rule", "adjudicate", *words, "--pause", typed="n\n")
    assert (code, error) == (1, "referee: nothing was sent\n")
    assert told.startswith(f"paused the game first, as entry {newest + 1}\nplace 1: p")
    assert "\narbiter 0 rules: the game is over: player 1: " in told
    assert told.endswith(still)
    on = ["--rule", "TBL-2", *game.by("arbiter", "arbiter0"), "--pause", "--yes"]
    code, told, error = here("rule", "restore", game.id, "--to", newest - 1, *on)
    assert (code, error) == (0, "")
    assert told.startswith("the game was already paused\narbiter 0 rules: the game goes back to entry")
    assert told.endswith(still)
    code, _, error = here("rule", "skip", game.id, "--seat", 9, *on)
    assert (code, error) == (2, "referee: --seat '9'; expected a name, or p1 to p2\n")
    code, told, error = here("rule", "adjudicate", *words, "--pause", "--yes")
    assert (code, error, "still paused" in told) == (0, "", False)
    assert "paused" not in here("docket", game.id, "--server", club.address)[1].partition("entry")[0]


def test_the_console_at_a_terminal(club: Club) -> None:
    game = club.new("--rules", "kingdomino")
    words = game.by("arbiter", "arbiter0")
    with at_a_terminal("arbiter", *map(str, words), draws=True) as terminal:
        terminal.wait_for("1 game; no calls")
        terminal.wait_for(game.id[:8])
        terminal.press("\x11")  # Ctrl+Q
        assert terminal.process.wait() == 0


def test_without_a_rule_the_ruling_names_its_usual_one(club: Club) -> None:
    """The notation and the console have the same default."""
    game = declared(club)
    arbiter = [*game.by("arbiter", "arbiter0"), "--yes"]
    for words, told in (
        (("penalty", game.id, "--seat", 0, "--points", 2), "player 1: 2 points off the score (TBL-33)"),
        (("pause", game.id), "the game is paused"),
        (("void", game.id), "the game does not count (TBL-36)"),
    ):
        code, said, error = here("rule", *words, *arbiter)
        assert (code, error) == (0, "")
        assert f"arbiter 0 rules: {told}" in said.splitlines()[:2]


def test_what_is_wrong_is_told_in_a_line(club: Club, tmp_path: Path) -> None:
    game = declared(club)
    arbiter = [*game.by("arbiter", "arbiter0"), "--yes"]
    cases: list[tuple[tuple[object, ...], int, str]] = [
        (
            ("rule", "pause", "abc", *arbiter),
            2,
            "game 'abc': expected 32 lower-case hexadecimal digits, or the first 8",
        ),
        (("rule", "pause", "0" * 32, *arbiter), 1, "UNKNOWN_GAME"),
        (
            ("rule", "pause", game.id, *arbiter[:2], "--key", club.keys["arbiter0"]),
            2,
            "no token; expected --token-file FILE",
        ),
        (("rule", "pause", game.id, *arbiter, "--arbiter", 1), 1, "not the key of arbiter 1, but that of arbiter 0"),
        (("rule", "pause", game.id, *arbiter, "--arbiter", 5), 1, "this game has no arbiter 5"),
        (("rule", "void", game.id, *arbiter, "--rule", "X-1"), 1, "there is no rule 'X-1'"),
        (("rule", "pause", game.id, *arbiter, "--reason", "\x1b"), 2, "expected at most 4000 printable characters"),
        (("rule", "pause", game.id, *game.by("arbiter", "arbiter0")[:4], "--key", tmp_path / "no"), 2, "No such file"),
        (("rule", "set-clock", game.id, *arbiter, "--seat", 0, "--left", "5"), 2, "--left '5': expected a time"),
        (("rule", "adjudicate", game.id, *arbiter, "--places", "a"), 2, "--places 'a': expected a number for each"),
        (("rule", "accept", game.id, "dance", *arbiter, "--seat", 0), 2, "'0: dance': line 1, column 4: syntax"),
        (("rule", "pause", game.id, "--server", "127.0.0.1:1", *arbiter[2:]), 1, "nothing listens there"),
        (("rule", "pause", game.id, *game.by("scribe", "arbiter0"), "--yes"), 1, "PERMISSION_DENIED"),
        (("arbiter", *arbiter[:-1]), 2, "the console needs a terminal; expected one"),
        (("resign", "nonsense#", "--key", club.keys["seat0"]), 2, "not a join string"),
        (("resign", f"@{tmp_path / 'none'}", "--key", club.keys["seat0"]), 2, "No such file"),
        (("resign", game.id, *game.by("scribe")), 2, "no seat; expected --seat N"),
        (("docket", game.id, "--key", "x"), 2, "--key is only for files"),
        (("docket", tmp_path / "none.gamelog"), 2, "No such file"),
        (("docket", club.keys["seat0"]), 4, "FRAME"),
    ]
    for words, code, text in cases:
        found = here(*words)
        assert (found[0], found[2].count("\n")) == (code, 1), (words, found)
        assert text in found[2], words


def test_seats_act_with_their_join_strings(club: Club, tmp_path: Path) -> None:
    game = club.new("--rules", "kingdomino", "--take-backs")
    play = game.until("choose_domino")
    last = play.record.size - 1
    play = game.play(lambda found: found.record.size > last + 1)
    joins = [game.created["joins"][str(seat)] for seat in range(2)]
    (tmp_path / "join").write_text(joins[0])

    def act(command: str, seat: int, *words: object) -> str:
        where = f"@{tmp_path / 'join'}" if seat == 0 else joins[seat]
        code, told, error = here(command, where, "--key", club.keys[f"seat{seat}"], "--yes", *words)
        assert (code, error) == (0, ""), error
        return told

    told = act("take-back", 0, "--to", last)
    assert (
        f"player 1: proposes to take back everything after entry {last}\nthis would take back:\n  {last + 1}  " in told
    )
    proposal = int(told.rpartition(" ")[2])
    assert "; player 2 yet to agree" in here("docket", game.id, "--server", club.address)[1]
    assert f"player 2: agrees to the take-back that entry {proposal} proposes" in act("consent", 1, "--entry", proposal)
    assert "protests against entry 1 (KDO-1)" in act("protest", 1, "--entry", 1, "--rule", "KDO-1")
    assert "player 2: resigns" in act("resign", 1)
    told = here("docket", game.id, "--server", club.address)[1]
    assert "the game has come to its end: player 1 wins: player 2 resigned; this waits for a ruling\n" in told
    assert f"  waits for a ruling on entry {proposal + 2}\n" in told
    assert "  player 1: place 1; player 2: place 2\n" in told
    wrong = format_join(club.address, game.id, 1, "x" * 43)
    code, _, error = here("resign", wrong, "--key", club.keys["seat1"], "--yes")
    assert (code, error.count("\n")) == (1, 1)


def test_new_tells_the_terms_that_contradict(club: Club) -> None:
    words = ("new", "--server", club.address, "--data", club.path / "data")
    code, _, error = here(*words, "--illegal", "penalty:30s")
    assert code == 1
    assert "--illegal penalty: expected a clock that it is taken off" in error
    code, _, error = here(*words, "--protest-time", "5m")
    assert code == 1
    assert "--protest-time: expected an arbiter" in error
    code, told, _ = here(*words, "--arbiter-key", club.keys["arbiter0"])
    assert code == 0
    assert told.splitlines()[-1].startswith("arbiter: ")


def test_the_organiser_gives_up_what_nobody_rules_on(club: Club) -> None:
    """A game that has come to its end, but while a protest is open; not without being sure."""
    game = declared(club, "--protest-time", "1h")
    data = ("--server", club.address, "--data", club.path / "data")
    protest = [
        "protest",
        game.id,
        *game.by("scribe"),
        "--scribe",
        0,
        "--seat",
        0,
        "--entry",
        1,
        "--rule",
        "KDO-1",
        "--yes",
    ]
    game.play(lambda play: play.record.game.reached() is not None)
    code, _, error = here("abort", game.id, *data, "--yes")
    assert code == 1
    assert "the game has come to its end" in error
    assert here(*protest)[0] == 0
    assert here("abort", game.id, *data, typed="n\n")[0] == 1
    code, told, error = here("abort", game.id, *data, "--yes")
    assert (code, error) == (0, "")
    assert f"game {game.id} is aborted after " in told
    code, told, _ = here("docket", game.id[:8], "--server", club.address)
    assert told.splitlines()[1:3] == ["the game is over: no result: the organiser aborted the game", "  no result"]
    assert "(KDO-1); the game ended before an arbiter ruled on it" in told
    assert "has to rule" not in told
    code, _, error = here("abort", game.id, *data, "--yes")
    assert code == 1
    assert "over" in error


def test_the_help_names_every_command_in_its_group() -> None:
    code, told, _ = here("--help")
    assert code == 0
    for panel in ("The referee", "Playing", "Arbiters", "Games and their logs", "Games over the board", "The solver"):
        assert f"\n{panel}\n" in told
    assert "\nCommands\n" not in told


def test_a_player_is_meant_by_name_and_read_before_it_is_sent(club: Club) -> None:
    """A bare number is of the notation, from 0; either way the name is read before anything is sent."""
    game = declared(club, "--names", "Anna,Béla,Béatrice")
    on = [game.id, *game.by("arbiter", "arbiter0"), *ON]
    for typed, player in (("béla", 1), ("p2", 1), ("1", 1), ("P3", 2), ("anna", 0), ("0", 0)):
        code, told, error = here("rule", "penalty", *on, "--seat", typed, typed="n\n")
        name = ("Anna", "Béla", "Béatrice")[player]
        assert (code, error) == (1, "referee: nothing was sent\n")
        assert told.startswith(f"player: p{player + 1}, {name} (seat {player} in notation)\narbiter 0 rules: ")
    code, _, error = here("rule", "forfeit", *on, "--seat", "Bé", "--yes")
    assert (code, error) == (
        2,
        "referee: --seat 'Bé' begins several names; expected one of p1 (Anna), p2 (Béla), p3 (Béatrice)\n",
    )
    for typed in ("p4", "3", "Cecil"):
        assert here("rule", "forfeit", *on, "--seat", typed, "--yes")[0] == 2
    code, told, _ = here("rule", "adjudicate", *on, "--places", "2,1,3", typed="n\n")
    assert told.startswith("place 1: p2, Béla\nplace 2: p1, Anna\nplace 3: p3, Béatrice\narbiter 0 rules: ")
