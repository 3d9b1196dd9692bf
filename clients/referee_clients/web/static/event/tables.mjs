// The tables of an event's page: who plays where, standings, who did what.

import { h } from "../dom.mjs";
import { hex } from "../verify/bytes.mjs";
import { Tally, standingsOf, tablePoints } from "../verify/event_points.mjs";
import { ORIGINS, played } from "../verify/event_state.mjs";
import { TIE_BREAKS } from "../verify/event_terms.mjs";
import { player, w } from "../words.mjs";
import { originWords, pointsWords, rounded, tableWords } from "./words.mjs";

/** A table that scrolls by itself where it is wider than the page. `rows`: of cells; the first of each is its head. */
const sheet = (label, heads, rows, className = "") =>
  h(
    "div",
    { class: "sheet-scroll", role: "region", tabindex: 0, "aria-label": label },
    h(
      "table",
      { class: className },
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell, at) => h(at ? "td" : "th", at ? {} : { scope: "row" }, cell))))),
    ),
  );

/** What an entrant got in a round, in 60ths; null where nothing is known yet, or nothing is given. */
const gained = (event, round, who) => {
  if (round.awards.has(who)) return round.awards.get(who);
  if (round.origin === ORIGINS.knock_out) return null;
  if (round.byes.includes(who)) return event.terms.bye_points;
  const at = round.tables.findIndex((table) => table.includes(who));
  const result = at < 0 ? null : played(round, at + 1);
  return result ? tablePoints(event.terms, result)[round.tables[at].indexOf(who)] : null;
};
const pointsOrNone = (points) => (points === null ? "" : pointsWords(points));

const placeOf = (result, seat) => (!result ? "" : result.places[seat] || w("event.away"));

/** A round, table by table: players in the order of their seats. `called`: a player's name. */
export const byTable = (event, round, called) => {
  const isKnockOut = round.origin === ORIGINS.knock_out;
  const before = new Tally(event, event.beforeCut.filter(({ number }) => number < round.number)).points;
  const row = (who, seat, at) => {
    const result = played(round, at + 1);
    const forfeits = result?.forfeited.includes(seat) ? ` ${w("event.forfeits")}` : "";
    return h("tr", {}, [player(seat, ""), called(who), pointsWords(before.get(who)), `${placeOf(result, seat)}${forfeits}`, ...(isKnockOut ? [] : [pointsOrNone(gained(event, round, who))])].map((cell, n) => h(n === 1 ? "th" : "td", n === 1 ? { scope: "row" } : {}, cell)));
  };
  const heads = ["event.seat", "event.player", "event.before", "event.place", ...(isKnockOut ? [] : ["event.points"])];
  const tables = round.tables.map((table, at) => {
    const game = round.games.get(at + 1);
    const note = tableWords(round, at + 1);
    return h(
      "section",
      { class: note ? "seated missing" : "seated" },
      h("h3", {}, w("event.table", { n: at + 1 }), note && h("span", { class: "note" }, note)),
      h("table", {}, h("thead", {}, h("tr", {}, heads.map((key) => h("th", { scope: "col" }, w(key))))), h("tbody", {}, table.map((who, seat) => row(who, seat, at)))),
      game && h("p", {}, h("a", { href: `/g/${hex(game)}` }, w("event.game", { id: hex(game).slice(0, 8) }))),
    );
  });
  const byes = round.byes.map((who) => h("p", {}, w("event.bye", { who: called(who), points: pointsOrNone(gained(event, round, who)) })));
  const quality = round.vector.length ? [h("p", { class: "source" }, w("event.quality", { origin: originWords(round.origin), repeats: round.vector[3], spread: pointsWords(round.vector[6]), bound: pointsWords(round.bound) }))] : [h("p", { class: "source" }, w("event.knock_out"))];
  return [h("div", { class: "tables" }, tables), ...byes, ...quality];
};

/** Where everybody sits, by name. */
export const byName = (round, called) => {
  const rows = round.tables.flatMap((table, at) => table.map((who, seat) => [called(who), String(at + 1), player(seat, "")]));
  const byes = round.byes.map((who) => [called(who), w("event.has_bye"), ""]);
  const order = new Intl.Collator(document.documentElement.lang, { numeric: true });
  const sorted = [...rows, ...byes].sort(([one], [other]) => order.compare(one, other));
  return sheet(w("event.by_name"), ["event.player", "event.at_table", "event.seat"].map((key) => w(key)), sorted);
};

/** The standings after a round, as far as its results are there. */
export const standingsSheet = (event, round, called) => {
  const heads = [w("event.place"), w("event.player"), w("event.points"), ...event.terms.tie_breaks.map((number) => w(`event.decides.${TIE_BREAKS[number].replace("-", "_")}`))];
  const upTo = () => new Tally(event, event.beforeCut.filter(({ number }) => number <= round.number)).standings();
  const rows = (round === event.newest ? standingsOf(event) : upTo()).map(({ place, number, points, tieBreaks }) => {
    const left = event.entrants.get(number).hasWithdrawn ? ` ${w("event.withdrawn")}` : "";
    return [String(place), called(number) + left, pointsWords(points), ...tieBreaks.map(rounded)];
  });
  return sheet(w("event.standings"), heads, rows, "figures");
};

/** Who did what in each round: table, place there, points. */
export const crossSheet = (event, called) => {
  const cell = (round, who) => {
    const points = pointsOrNone(gained(event, round, who));
    const at = round.tables.findIndex((table) => table.includes(who));
    if (at < 0) return round.byes.includes(who) ? w("event.cross.bye", { points }) : points || "–";
    const result = played(round, at + 1);
    const seat = round.tables[at].indexOf(who);
    const place = !result ? tableWords(round, at + 1) : placeOf(result, seat);
    return w(result?.places[seat] ? "event.cross.cell" : "event.cross.none", { table: at + 1, place, points });
  };
  const rows = standingsOf(event).map(({ place, number, points }) => [String(place), called(number), ...event.rounds.map((round) => cell(round, number)), pointsWords(points)]);
  const heads = [w("event.place"), w("event.player"), ...event.rounds.map(({ number }) => w("event.round_short", { n: number })), w("event.points")];
  return sheet(w("event.cross"), heads, rows);
};
