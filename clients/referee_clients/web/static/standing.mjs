// How a game stands after an entry, from what is signed alone: the entries, and the position that the last one commits to.
//
// It says who is awaited and who is out. What is legal, and what a position is worth, it does not know.

import { h } from "./dom.mjs";
import { firstPlayer, w } from "./words.mjs";

export const ENDINGS = [
  "",
  "rules",
  "stalled",
  "resigned",
  "flag",
  "disconnected",
  "illegal_moves",
  "adjudicated",
  "aborted",
  "voided",
  "referee_fault",
  "crashed",
];
const [, , , RESIGNED, FLAG, DISCONNECTED, ILLEGAL_MOVES] = ENDINGS;

/** What all entries so far make of the table beside the position. */
class Table {
  out = new Map();
  #outAfter = [];
  #strikes = [];
  #joined = new Set();
  #revealed = new Set();
  #dealing = null;
  phase = "joining";
  suspended = null;
  isRuled = false;
  disputes = new Set();
  end = null;

  constructor({ seats, terms, dealt }) {
    Object.assign(this, { seats, terms, dealt });
    this.#strikes = seats.map(() => 0);
  }

  take(entry) {
    this.#happen(entry);
    this.#outAfter.push(this.out);
    this.#goOn();
  }

  /** Seats that have to join, or to reveal their part of the deck. */
  get missing() {
    if (this.phase === "joining") {
      return this.#all((seat) => !this.seats[seat].scribed && !this.#joined.has(seat) && !this.out.has(seat));
    }
    return this.phase === "revealing" ? this.#dealing.filter((seat) => !this.#revealed.has(seat) && !this.out.has(seat)) : [];
  }

  /** Whether the game has come to an end, entered or not, whatever its position: by rulings, by forfeits, or without a deck. */
  get isDecided() {
    if (this.isRuled) return true;
    const isForfeited = this.out.size > 0 && this.out.size >= this.seats.length - 1;
    if (this.phase === "joining") return isForfeited && !this.missing.length;
    const isLost = (seat) => this.out.has(seat) && !this.#revealed.has(seat);
    return isForfeited || (this.phase === "revealing" && (!this.#dealing.length || this.#dealing.some(isLost)));
  }

  #all(is) {
    return this.seats.map((_, seat) => seat).filter(is);
  }

  #leave(seat, how) {
    if (!this.out.has(seat)) this.out = new Map([...this.out, [seat, how]]);
  }

  #strike(seat, count) {
    this.#strikes[seat] += count;
    if (count && this.terms?.strikes && this.#strikes[seat] >= this.terms.strikes) this.#leave(seat, ILLEGAL_MOVES);
  }

  #happen({ seq, event, intent, timeout, absent, end }) {
    if (event === "timeout") this.#leave(timeout.seat, FLAG);
    else if (event === "absent") this.#leave(absent.seat, DISCONNECTED);
    else if (event === "end") this.end = end;
    else if (event === "refused" && intent.author === "seat") this.#strike(intent.seat, 1);
    else if (event === "signed") this.#act(seq, intent);
  }

  #act(seq, intent) {
    const { act, author } = intent;
    if (act === "join") this.#joined.add(intent.seat);
    else if (act === "reveal") this.#revealed.add(intent.seat);
    else if (act === "resign") this.#leave(author === "seat" ? intent.seat : intent.resign.seat, RESIGNED);
    else if (act === "protest" || act === "appeal") this.disputes.add(seq);
    else if (act === "rule") this.#rule(intent.rule);
  }

  #rule(rule) {
    const { ruling } = rule;
    if (rule.decides !== undefined) this.disputes.delete(rule.decides);
    if (ruling === "pause" || ruling === "adjourn") this.suspended = ruling;
    else if (ruling === "resume") this.suspended = null;
    else if (ruling === "void" || ruling === "adjudicate") this.isRuled = true;
    else if (ruling === "forfeit") this.#leave(rule.forfeit.seat, ENDINGS[rule.forfeit.ending]);
    else if (ruling === "reinstate") this.out = new Map([...this.out].filter(([seat]) => seat !== rule.reinstate.seat));
    else if (ruling === "penalty") this.#strike(rule.penalty.seat, rule.penalty.strikes);
    else if (ruling === "restore") {
      this.isRuled = false;
      this.out = this.#outAfter[rule.restore.to_seq] ?? this.out;
    }
  }

  #goOn() {
    if (this.missing.length || this.isDecided) return;
    if (this.phase === "joining") {
      this.#dealing = this.#all((seat) => this.#joined.has(seat) && !this.out.has(seat));
      this.phase = this.dealt ? "revealing" : "playing";
    } else if (this.phase === "revealing") this.phase = "playing";
  }
}

/**
 * How the game stands after these entries. `awaits`: by a position of the game, `{seat, act}` of the decision that is due,
 * null for something drawn. Returns `{is, …}`:
 *
 * - `over` with `end` (GameEnd), `begun`
 * - `joining`, `revealing` with the `seats` that are missing
 * - `pause`, `adjourn`
 * - `result` with whether a `ruling` is needed first: play is over, and its result is not entered yet
 * - `draw` with the number of the `scribe`, null where the referee draws
 * - `decision` with the `seat`, the `act`, and whether a `scribe` enters it or a `standIn` makes it
 *
 * and always `out`, seats that have forfeited and how, and `disputes`, how many are open.
 */
export const standing = (entries, open, position, awaits) => {
  const table = new Table(open);
  for (const entry of entries) table.take(entry);
  const { out, disputes, end, phase } = table;
  const all = { out, disputes: disputes.size };
  if (end) return { is: "over", end, begun: phase === "playing", ...all };
  if (table.isDecided || (phase === "playing" && position?.phase === "OVER")) return { is: "result", ruling: disputes.size > 0, ...all };
  if (table.suspended) return { is: table.suspended, ...all };
  if (phase !== "playing") return { is: phase, seats: table.missing, ...all };
  const due = position && awaits(position);
  if (!due) return { is: "draw", scribe: open.declared?.scribe ?? null, ...all };
  return { is: "decision", ...due, scribe: open.seats[due.seat].scribed, standIn: out.has(due.seat), ...all };
};

/** What a clock shows now: milliseconds left, from the gateway's newest word of it; `ageMs`: how old that word is. */
export const leftMs = ({ left_ms: left, running, since_ms: since, free_ms: free }, refereeMs, ageMs) =>
  running ? Math.max(0, left - Math.max(0, refereeMs + ageMs - since - free)) : left;

const pad = (number) => String(number).padStart(2, "0");

/** As a clock shows it; days, where there are any. */
export const clockWords = (ms) => {
  const seconds = Math.ceil(ms / 1000);
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  const face = days || hours ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
  return days ? w("clock.days", { days, face }) : face;
};

// --- in words ----------------------------------------------------------------------------------------------------

/** Who won and why, `[who, ...why]`. `out`: as `standing` has it; `whom`: what names a seat, itself or a name. */
export const resultWords = ({ ending, places }, out, whom = (seat) => seat) => {
  const first = places.flatMap((place, seat) => (place === 1 ? [whom(seat)] : []));
  const who = !places.length ? w("result.none") : !first.length ? w("result.nobody") : first.length === 1 ? w("result.wins", { player: first[0] }) : w("result.share", { players: first });
  const left = [...out].map(([seat, how]) => w(`left.${how}`, { player: whom(seat) }));
  return [who, ...([...out.values()].includes(ending) ? [] : [w(`ending.${ending}`)]), ...left];
};

/** How a game ended, as elements; none while it goes on. `standing`: as `standing` of standing.mjs. */
export const resultOf = ({ is, end, begun, out }) => {
  if (is !== "over") return [];
  const { scores, places } = end;
  const [who, ...why] = resultWords({ ending: ENDINGS[end.ending], places }, out);
  const byPlace = places.map((place, seat) => [place, seat]).sort(([one], [other]) => one - other);
  const cells = (tag, values) => values.map((value) => h(tag, tag === "th" ? { scope: "col" } : {}, value));
  const row = ([place, seat]) => h("tr", {}, cells("td", [place, firstPlayer(seat), ...(scores.length ? [scores[seat]] : [])]));
  const heads = [w("sheet.place"), w("sheet.player"), ...(scores.length ? [w("sheet.points")] : [])];
  return [
    h("h2", {}, who),
    h("p", {}, [...why, ...(begun ? [] : [w("result.never_begun")])].join(" ")),
    ...(places.length ? [h("table", {}, h("thead", {}, h("tr", {}, cells("th", heads))), h("tbody", {}, byPlace.map(row)))] : []),
  ];
};

/** How a game stands, in a sentence or two. */
export const standingWords = (stands) => {
  const disputes = stands.disputes && stands.is !== "over" ? ` ${w("stands.disputes", { n: stands.disputes })}` : "";
  return awaited(stands) + disputes;
};

const awaited = (stands) => {
  switch (stands.is) {
    case "over":
      return resultWords({ ending: ENDINGS[stands.end.ending], places: stands.end.places }, stands.out).join(" ");
    case "result":
      return w(stands.ruling ? "stands.result.ruling" : "stands.result");
    case "joining":
    case "revealing":
      return stands.seats.length ? w(`stands.${stands.is}`, { players: stands.seats }) : w("stands.not_begun");
    case "pause":
    case "adjourn":
      return w(`stands.${stands.is}`);
    case "draw":
      return stands.scribe === null ? w("stands.draw") : w("stands.draw.scribe", { n: stands.scribe });
  }
  if (stands.standIn) return w("stands.stand_in", { player: stands.seat });
  return w(stands.scribe ? "stands.seat.scribe" : "stands.seat", { player: stands.seat, act: stands.act });
};

/** Event, round and table in words; empty if there are none. */
export const whereWords = (game) => {
  const parts = [["event_id", "where.event"], ["round", "where.round"], ["table", "where.table"]];
  return parts.flatMap(([field, key]) => (game[field] === undefined || game[field] === null ? [] : [w(key, { n: game[field] })])).join(", ");
};
