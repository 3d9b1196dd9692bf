// How a game ended, as a table.

import { h } from "./dom.mjs";
import { ENDINGS, resultWords, seatWords } from "./standing.mjs";
import { w } from "./words.mjs";

/** The elements that say it; none while the game goes on. `standing`: as `standing` of standing.mjs. */
export const resultOf = ({ is, end, begun, out }) => {
  if (is !== "over") return [];
  const { scores, places } = end;
  const [who, ...why] = resultWords({ ending: ENDINGS[end.ending], places }, out);
  const byPlace = places.map((place, seat) => [place, seat]).sort(([one], [other]) => one - other);
  const cells = (tag, values) => values.map((value) => h(tag, tag === "th" ? { scope: "col" } : {}, value));
  const row = ([place, seat]) => h("tr", {}, cells("td", [place, seatWords(seat), ...(scores.length ? [scores[seat]] : [])]));
  const heads = [w("sheet.place"), w("sheet.player"), ...(scores.length ? [w("sheet.points")] : [])];
  return [
    h("h2", {}, who),
    h("p", {}, [...why, ...(begun ? [] : [w("result.never_begun")])].join(" ")),
    ...(places.length ? [h("table", {}, h("thead", {}, h("tr", {}, cells("th", heads))), h("tbody", {}, byPlace.map(row)))] : []),
  ];
};
