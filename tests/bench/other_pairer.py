"""CP-SAT on one round: reads a round as JSON, prints for each component of the vector its least value, if it proves it.

A program of its own, run with the Python of .venv/compare (and -P: a neighbour has the name of a module of the
library); it knows nothing of ours. Given on standard input: ``points`` by place in the standing, ``sizes`` (best
first), ``shorts`` (how many tables are not of the first size), ``sat_short`` (places), ``pairs`` (two places, the
better first, then what it costs in forbidden, repeats and again that they meet) and ``seconds`` in all. Printed: the
values of forbidden, repeats, again, second_shorts, spread and float, each the least that is possible with those before
it; the list ends before the first that is not proven.
"""

from __future__ import annotations

import json
import sys
from time import monotonic
from typing import Any


def main() -> None:
    """A table is named after its best player, so that no two seatings are the same tables in another order."""
    from ortools.sat.python import cp_model

    asked: dict[str, Any] = json.load(sys.stdin)
    points, first, places = asked["points"], asked["sizes"][0], range(len(asked["points"]))
    model = cp_model.CpModel()

    def chosen(keys: Any) -> dict[Any, Any]:
        return {key: model.new_bool_var(str(key)) for key in keys}

    leads = chosen((best, size) for best in places for size in asked["sizes"])
    sits = chosen((best, place) for best in places for place in places[best:])
    last = chosen((best, place) for best in places for place in places[best:])
    for place in places:
        model.add_exactly_one(sits[best, place] for best in places[: place + 1])
    model.add(sum(leads[key] for key in leads if key[1] != first) == asked["shorts"])
    for best in places:
        table = sum(leads[best, size] for size in asked["sizes"])
        model.add(sits[best, best] == table)
        model.add(sum(last[best, place] for place in places[best:]) == table)
        model.add(sum(sits[best, place] for place in places[best:]) == sum(s * leads[best, s] for s in asked["sizes"]))
        for place in places[best:]:
            model.add_implication(last[best, place], sits[best, place])
            model.add(sum(last[best, after] for after in places[place:]) >= sits[best, place])
    together = {}
    for p, q, *costs in asked["pairs"]:
        together[p, q] = (model.new_bool_var("together"), costs)
        for best in places[: p + 1]:
            model.add(sits[best, p] + sits[best, q] <= sits[best, best] + together[p, q][0])
    again = chosen(asked["sat_short"])
    for place, sat_again in again.items():
        for best in places[: place + 1]:
            short = sum(leads[best, size] for size in asked["sizes"] if size != first)
            model.add(sat_again >= sits[best, place] + short - 1)
    components = [sum(costs[at] * var for var, costs in together.values()) for at in range(3)]
    components.append(sum(again.values()))
    components.append(sum((points[best] - points[place]) * var for (best, place), var in last.items()))
    components.append(sum((place - best + 1) * var for (best, place), var in last.items()) - len(places))
    print(json.dumps(_least(cp_model, model, components, monotonic() + asked["seconds"])))


def _least(cp_model: Any, model: Any, components: list[Any], until: float) -> list[int]:
    proven: list[int] = []
    for component in components:
        if not isinstance(component, int):
            solver = cp_model.CpSolver()
            solver.parameters.num_workers = 1
            solver.parameters.max_time_in_seconds = max(0.1, until - monotonic())
            model.minimize(component)
            if solver.solve(model) != cp_model.OPTIMAL:
                break
            proven.append(round(solver.objective_value))
            model.add(component == proven[-1])
        else:
            proven.append(component)
    return proven


if __name__ == "__main__":
    main()
