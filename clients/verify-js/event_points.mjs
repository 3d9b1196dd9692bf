// Points, tie-breaks and standings of an event, to the last fraction: EVT-S1 to EVT-S14, EVT-B4, EVT-K4.

import { hex, sha256, utf8 } from "./bytes.mjs";
import { played } from "./event_state.mjs";
import { PARTS, TIE_BREAKS, placePoints } from "./event_terms.mjs";

// --- fractions: [numerator, denominator] of BigInts, reduced, the denominator above 0 ---------------------------------

const gcd = (a, b) => (b === 0n ? a : gcd(b, a % b));
const fraction = (n, d = 1n) => {
  const common = gcd(n < 0n ? -n : n, d) || 1n;
  return [n / common, d / common];
};
const of = (n, d = 1) => fraction(BigInt(n), BigInt(d));
const NOTHING = of(0);
const plus = ([n, d], [m, e]) => fraction(n * e + m * d, d * e);
/** Which is more, as `sort` asks: below 0 if the first is less. */
const compared = ([n, d], [m, e]) => (n * e < m * d ? -1 : n * e > m * d ? 1 : 0);
/** Of none: 0. */
const mean = (values) => {
  const [n, d] = values.reduce(plus, NOTHING);
  return values.length ? fraction(n, d * BigInt(values.length)) : NOTHING;
};

/** A fraction as standings are hashed: `3/4`. */
export const fractionText = ([n, d]) => `${n}/${d}`;

// --- points ------------------------------------------------------------------------------------------------------

/** In 60ths by seat: by place, ties share; none for who was away, or forfeited unless the terms leave them. */
export function tablePoints(terms, { places, forfeited }) {
  const there = places.filter((place) => place > 0);
  const given = placePoints(terms, there.length) ?? there.map(() => 0);
  return places.map((place, seat) => {
    if (place === 0 || (forfeited.includes(seat) && !terms.forfeit_keeps_points)) return 0;
    const tied = there.filter((other) => other === place).length;
    const shared = given.slice(place - 1, place - 1 + tied).reduce((sum, each) => sum + each, 0);
    return (shared * PARTS) / tied;
  });
}

/** What everybody's rounds before the cut come to: points in 60ths, and each round at a table that counts. */
export class Tally {
  constructor(event, rounds) {
    this.event = event;
    this.points = new Map([...event.entrants].map(([number, { latePoints }]) => [number, latePoints]));
    this.played = new Map([...event.entrants.keys()].map((number) => [number, []]));
    for (const round of rounds) this.#add(round);
    this.means = new Map([...this.played].map(([number, rounds]) => [number, mean(rounds.map(({ points }) => points))]));
  }

  #add(round) {
    const given = new Map(round.byes.map((who) => [who, this.event.terms.bye_points]));
    for (const [at, table] of round.tables.entries()) {
      const result = played(round, at + 1);
      const byTable = result ? tablePoints(this.event.terms, result) : table.map(() => 0);
      const points = byTable.map((each, seat) => round.awards.get(table[seat]) ?? each);
      points.forEach((each, seat) => given.set(table[seat], each));
      if (result) this.#play(`${round.number},${at + 1}`, table, result, points);
    }
    for (const [who, points] of round.awards) given.set(who, points);
    for (const [who, points] of given) this.points.set(who, this.points.get(who) + points);
  }

  #play(where, table, { places, scores }, points) {
    const there = places.flatMap((place, seat) => (place ? [seat] : []));
    const total = there.reduce((sum, seat) => sum + points[seat], 0);
    for (const seat of there) {
      const tied = there.filter((other) => places[other] === places[seat]).length;
      // The mean of the places that the tie takes, twice.
      const twice = 2 * places[seat] + tied - 1;
      this.played.get(table[seat]).push({
        where,
        points: of(points[seat], PARTS),
        relative: total ? of(points[seat] * there.length, total) : of(1),
        rank: of(2 * (there.length - 1) - (twice - 2), 2 * (there.length - 1)),
        win: places[seat] === 1 ? of(1, tied) : NOTHING,
        score: scores.length ? of(scores[seat]) : NOTHING,
        opponents: there.filter((other) => other !== seat).map((other) => table[other]),
      });
    }
  }

  /** A tie-break of everybody, given who is tied with whom. */
  #values(name, groups) {
    const simple = { wins: "win", relative: "relative", place: "rank", game: "score" }[name];
    const value = (who) => {
      const rounds = this.played.get(who);
      if (simple) return mean(rounds.map((each) => each[simple]));
      const met = rounds.map(({ opponents }) => mean(opponents.map((other) => this.means.get(other)))).sort(compared);
      return mean(name === "opponents-cut" && met.length > 1 ? met.slice(1) : met);
    };
    const direct = (tied) => {
      const where = (who) => new Set(this.played.get(who).map((each) => each.where));
      const all = tied.map(where);
      const shared = ({ where: at }) => all.every((places) => places.has(at));
      return tied.map((who) => [who, tied.length > 1 ? mean(this.played.get(who).filter(shared).map(({ rank }) => rank)) : NOTHING]);
    };
    return new Map(groups.flatMap((tied) => (name === "direct" ? direct(tied) : tied.map((who) => [who, value(who)]))));
  }

  /** The rows, best first, `{place, number, points, tieBreaks}`; who is expelled is in none. */
  standings() {
    const { entrants, terms } = this.event;
    const numbers = [...entrants.values()].filter(({ isExpelled }) => !isExpelled).map(({ number }) => number);
    let groups = parted([numbers], new Map(numbers.map((who) => [who, of(this.points.get(who))])));
    const tieBreaks = new Map(numbers.map((who) => [who, []]));
    for (const number of terms.tie_breaks) {
      const values = this.#values(TIE_BREAKS[number], groups);
      for (const who of numbers) tieBreaks.get(who).push(values.get(who));
      groups = parted(groups, values);
    }
    const lots = new Map(numbers.map((who) => [who, hex(entrants.get(who).lot)]));
    const order = groups.flatMap((tied) => [...tied].sort((one, other) => (lots.get(one) < lots.get(other) ? -1 : 1)));
    return order.map((number, at) => ({ place: at + 1, number, points: this.points.get(number), tieBreaks: tieBreaks.get(number) }));
  }
}

/** The groups, each parted by value, the most first. */
function parted(groups, values) {
  return groups.flatMap((tied) => {
    const sorted = [...tied].sort((one, other) => compared(values.get(other), values.get(one)));
    const found = [];
    for (const [at, who] of sorted.entries()) {
      if (at && compared(values.get(sorted[at - 1]), values.get(who)) === 0) found.at(-1).push(who);
      else found.push([who]);
    }
    return found;
  });
}

// --- standings ---------------------------------------------------------------------------------------------------

/** The standings after all rounds that are there; after the cut by how far each came, then as before it. */
export function standingsOf(event) {
  const rows = new Tally(event, event.beforeCut).standings();
  const came = new Map(rows.map(({ number }) => [number, [0, 0]]));
  for (const [at, round] of event.knockOut.entries()) {
    for (const [index, table] of round.tables.entries()) {
      const result = played(round, index + 1);
      table.forEach((who, seat) => came.set(who, [at + 1, result?.places[seat] || table.length]));
    }
  }
  const further = ({ number: one, place: a }, { number: other, place: b }) => {
    const [[deep, place], [deeper, better]] = [came.get(one), came.get(other)];
    return deeper - deep || place - better || a - b;
  };
  return [...rows].sort(further).map((row, at) => ({ ...row, place: at + 1 }));
}

/** What CloseRound and Close have of these rows. */
export function standingsHash(rows) {
  const line = ({ place, number, points, tieBreaks }) => `${[place, number, points, ...tieBreaks.map(fractionText)].join(" ")}\n`;
  return sha256(utf8(rows.map(line).join("")));
}
