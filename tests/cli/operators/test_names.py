"""Names by commands: given with a game, given later, erased; in the file beside a game's, and in what reads that."""

from __future__ import annotations

import json

from referee.log.names import rows_of
from tests.cli.operators.day import Day


async def opened(day: Day, *words: object) -> str:
    done = await day.run("new", "--data", "data", "--rules", "kingdomino", "--json", *words)
    game: str = json.loads(done.stdout)["game"]
    return game


async def test_names_of_a_game_by_commands(day: Day) -> None:
    game = await opened(day, "--names", 'Anna <b>, Béla "Bo" Kiss')
    listed = await day.run("name", game)
    assert listed.stdout == 'p1: Anna <b>\np2: Béla "Bo" Kiss\n'
    await day.run("fetch", game, "--out", "game.gamelog")
    kept = rows_of((day.folder / "game.names.csv").read_text(encoding="utf-8"))
    assert [(number, person.name, of) for number, person, of in kept] == [
        (1, "Anna <b>", game),
        (2, 'Béla "Bo" Kiss', game),
    ]
    shown = await day.run("show", "game.gamelog")
    assert 'p1: Anna <b>\np2: Béla "Bo" Kiss\n' in shown.stdout
    notation = await day.run("show", "game.gamelog", "--notation")
    assert '[Player1 "Béla ”Bo” Kiss"]' in notation.stdout
    report = await day.run("report", "game.gamelog", "--html", code=5)
    assert "Anna &lt;b&gt;" in report.stdout
    assert "Anna <b>" not in report.stdout
    assert "as the organiser says" not in report.stdout


async def test_a_name_that_comes_later_is_the_organisers_word(day: Day) -> None:
    game = await opened(day, "--names", "Anna,")
    assert (await day.run("name", game)).stdout == "p1: Anna\n"
    unsure = await day.run("name", game, "p2", "Béla", "--data", "data", code=1)
    assert f"game {game}, p2, without a name: the name is Béla from now on" in unsure.stdout + unsure.stderr
    assert (await day.run("name", game, "p2", "Béla", "--data", "data", "--yes")).stdout.endswith("\np2 is Béla\n")
    refused = await day.run("name", game, "p2", "ANNA", "--data", "data", "--yes", code=1)
    assert "p1 already" in refused.stderr
    alike = await day.run("name", game, "béla", "Аnnа", "--data", "data", "--yes")
    assert "warning: Аnnа and Anna look the same" in alike.stderr
    assert (await day.run("name", game)).stdout == "p1: Anna\np2: Аnnа (as the organiser says)\n"
    await day.run("fetch", game, "--out", "game.gamelog")
    report = await day.run("report", "game.gamelog", code=5)
    assert "Аnnа (as the organiser says)" in report.stdout
    assert (await day.run("name", game, "Anna", "--erase", "--data", "data", "--yes")).stdout.endswith(
        "\np1 has no name now\n"
    )
    assert (await day.run("name", game)).stdout == "p2: Аnnа (as the organiser says)\n"


async def test_a_file_that_swaps_names_swaps_no_players(day: Day) -> None:
    game = await opened(day, "--names", "Anna,Béla")
    await day.run("fetch", game, "--out", "game.gamelog")
    names = day.folder / "game.names.csv"
    head, anna, bela = names.read_text(encoding="utf-8").splitlines()
    names.write_text(f"{head}\n1,{bela.partition(',')[2]}\n2,{anna.partition(',')[2]}\n", encoding="utf-8")
    assert "p1: Anna\np2: Béla\n" in (await day.run("show", "game.gamelog")).stdout
    names.write_text(f"{head}\n1,Béla,,{game}\n2,Anna,,{game}\n", encoding="utf-8")
    told = (await day.run("show", "game.gamelog")).stdout
    assert "p1: Béla (as the organiser says)\np2: Anna (as the organiser says)\n" in told


async def test_names_in_a_file_and_in_pairings(day: Day) -> None:
    (day.folder / "players.txt").write_text("Anna\nBéla\nCecil\n", encoding="utf-8")
    game = await opened(day, "--names", "players.txt")
    assert (await day.run("name", game)).stdout == "p1: Anna\np2: Béla\np3: Cecil\n"
    (day.folder / "pairings.csv").write_text("table,rules,seat 0,seat 1\n1,kingdomino,Ada,Bo\n", encoding="utf-8")
    words = (
        "new",
        "--data",
        "data",
        "--from",
        "pairings.csv",
        "--event",
        1,
        "--round",
        1,
        "--rules",
        "kingdomino",
        "--json",
    )
    (table,) = json.loads((await day.run(*words)).stdout)
    assert (await day.run("name", table["game"])).stdout == "p1: Ada\np2: Bo\n"
    (again,) = json.loads((await day.run(*words)).stdout)
    assert (again["game"], again["is"]) == (table["game"], "there already")


async def test_names_that_nobody_can_tell_apart(day: Day) -> None:
    done = await day.run("new", "--data", "data", "--names", "Anna, anna", code=2)
    assert "'anna' is p1 already, expected another name" in done.stderr
    done = await day.run("new", "--data", "data", "--names", "Anna,Аnnа")
    assert "warning: Anna and Аnnа look the same" in done.stderr
    done = await day.run("new", "--data", "data", "--seats", 2, "--names", "a,b,c", code=2)
    assert "--names: 3 given; expected at most 2" in done.stderr
