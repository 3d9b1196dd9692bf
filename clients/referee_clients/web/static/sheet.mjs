// A score sheet, as `referee score` has it: places, points item by item, ties.

import { h } from "./dom.mjs";
import { firstPlayer, w } from "./words.mjs";

/** What a page shows of the answer to a question for the score. */
export const sheetOf = (found) => {
  const heading = h("h2", { id: "sheet-title" }, w("sheet"));
  if (found.error !== undefined) return [heading, h("p", { class: "problem" }, w("sheet.none", { message: found.error ?? w("sheet.no_server") }))];
  // Seats come first, then players that nobody plays.
  const named = (n) => (n < found.seats ? firstPlayer(n) : w("rollwrite.virtual", { n: n - found.seats + 1 }));
  const rows = found.players.map((player, n) => ({ ...player, label: named(n) })).sort((one, other) => one.place - other.place);
  const cells = (values) => values.map((value) => h("td", {}, value));
  const heads = [w("sheet.place"), w("sheet.player"), w("sheet.points")].map((each) => h("th", { scope: "col" }, each));
  return [
    heading,
    h(
      "table",
      { "aria-labelledby": "sheet-title" },
      h("thead", {}, h("tr", {}, heads)),
      h("tbody", {}, rows.map(({ place, label, total }) => h("tr", { class: place === 1 ? "winner" : "" }, cells([place, label, total])))),
    ),
    ...found.ties.map(({ words }) => h("p", {}, words)),
    ...rows.map(({ label, items }) =>
      h(
        "details",
        {},
        h("summary", {}, w("sheet.items", { player: label })),
        h("ul", {}, items.map(({ what, how, points }) => h("li", {}, w("sheet.item", { what, how, points })))),
      ),
    ),
    ...found.remarks.map((words) => h("p", { class: "source" }, words)),
  ];
};
