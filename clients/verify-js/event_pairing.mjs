// The demands on a round's pairing, and its quality: EVT-P1 to EVT-P7, EVT-O1, EVT-B1, EVT-B2, EVT-K1 to EVT-K3.

import { Tally } from "./event_points.mjs";
import { pairKey, played } from "./event_state.mjs";

const pairsOf = (table) => table.flatMap((one, at) => table.slice(at + 1).map((other) => [one, other]));
const sum = (values) => values.reduce((total, each) => total + each, 0);

/** What a pairing depends on, from the rounds before it. */
export class Situation {
  /** How often two met, by `pairKey`; who met in the round just before. */
  met = new Map();
  again = new Set();
  byes = new Map();
  shorts = new Map();
  /** By entrant, how often on each seat. */
  seated = new Map();

  constructor(event) {
    const rounds = event.beforeCut.filter((round) => event.before.includes(round));
    const tally = new Tally(event, rounds);
    const there = new Set(event.there(event.nextRound));
    this.sizes = event.terms.sizes;
    this.forbidden = event.forbidden;
    this.points = tally.points;
    /** Who is there, best first; and the place of each. */
    this.standing = tally.standings().map(({ number }) => number).filter((who) => there.has(who));
    this.placeOf = new Map(this.standing.map((who, at) => [who, at]));
    for (const round of rounds) this.#add(round);
  }

  #add(round) {
    const add = (counts, key) => counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const who of round.byes) add(this.byes, who);
    this.again = new Set();
    for (const [at, table] of round.tables.entries()) {
      const result = played(round, at + 1);
      const there = result ? table.filter((_, seat) => result.places[seat] > 0) : [];
      for (const who of there) {
        if (!this.isFull(table)) add(this.shorts, who);
        this.seated.set(who, raised(this.seatsOf(who), table.indexOf(who)));
      }
      for (const [one, other] of pairsOf(there)) {
        add(this.met, pairKey(one, other));
        this.again.add(pairKey(one, other));
      }
    }
  }

  isFull(table) {
    return table.length === this.sizes[0];
  }

  seatsOf(who) {
    return this.seated.get(who) ?? [0, 0, 0, 0, 0, 0];
  }

  byesOf(who) {
    return this.byes.get(who) ?? 0;
  }
}

const raised = (counts, at) => counts.map((count, index) => count + Number(index === at));

/** The fewest byes among so many, and with them the fewest tables of another size than the first. */
function fewest(players, [full, ...others]) {
  // By number of players: the fewest such tables that seat exactly them; Infinity if none do.
  const shorts = [0];
  for (let n = 1; n <= players; n++) {
    const without = (size) => (n < size ? Infinity : shorts[n - size]);
    shorts.push(Math.min(without(full), ...others.map((size) => 1 + without(size))));
  }
  const seated = shorts.findLastIndex((count) => count < Infinity);
  return { byes: players - seated, shorts: shorts[seated] };
}

// --- what is lawful ------------------------------------------------------------------------------------------------

/** Every absolute rule that the pairing breaks, as `[rule, what]`. */
export function* unlawful(before, { tables, byes }) {
  const there = new Set(before.standing);
  const times = new Map();
  for (const who of [...tables.flat(), ...byes]) times.set(who, (times.get(who) ?? 0) + 1);
  for (const who of new Set([...there, ...times.keys()])) {
    if ((times.get(who) ?? 0) !== Number(there.has(who))) {
      yield ["EVT-P1", `entrant ${who} is paired ${times.get(who) ?? 0} times, and ${there.has(who) ? "is" : "is not"} there`];
    }
  }
  const least = fewest(there.size, before.sizes);
  for (const [at, table] of tables.entries()) {
    if (!before.sizes.includes(table.length)) yield ["EVT-P2", `table ${at + 1} is one of ${table.length}`];
    for (const [one, other] of pairsOf(table)) {
      if (before.forbidden.get(pairKey(one, other))) yield ["EVT-P5", `table ${at + 1}: entrants ${one} and ${other} must not meet`];
    }
  }
  const shorts = tables.filter((table) => !before.isFull(table)).length;
  if (shorts > least.shorts) yield ["EVT-P2", `${shorts} short tables, where ${least.shorts} do`];
  if (byes.length > least.byes) yield ["EVT-B2", `${byes.length} byes, where ${least.byes} do`];
  const had = Math.min(...tables.flat().map((who) => before.byesOf(who)));
  for (const who of byes) if (before.byesOf(who) > had) yield ["EVT-B1", `entrant ${who} had a bye, and somebody at a table had fewer`];
}

// --- what it is worth --------------------------------------------------------------------------------------------

/** The nine numbers of a pairing in which everybody who is there is once. */
export function vectorOf(before, { tables, byes }) {
  const { standing, placeOf, points, met, again, shorts } = before;
  const had = standing.map((who) => before.byesOf(who)).sort((one, other) => one - other);
  // A bye goes to players who had as few as the last one to get it has to have. The lowest of them comes first.
  const may = byes.length ? standing.filter((who) => before.byesOf(who) <= had[byes.length - 1]) : [];
  const lowest = placeOf.get(may.at(-1)) ?? 0;
  const pairs = tables.flatMap(pairsOf).map((pair) => pairKey(...pair));
  const ranges = tables.map((table) => {
    const places = table.map((who) => placeOf.get(who));
    return { best: Math.min(...places), worst: Math.max(...places), size: table.length };
  });
  return [
    sum(byes.map((who) => before.byesOf(who))),
    sum(byes.map((who) => Math.max(0, lowest - placeOf.get(who)))),
    pairs.filter((pair) => before.forbidden.get(pair) === false).length,
    sum(pairs.map((pair) => (met.get(pair) ?? 0) ** 2)),
    pairs.filter((pair) => again.has(pair)).length,
    tables.filter((table) => !before.isFull(table)).flat().filter((who) => shorts.has(who)).length,
    sum(ranges.map(({ best, worst }) => points.get(standing[best]) - points.get(standing[worst]))),
    sum(ranges.map(({ best, worst, size }) => worst - best + 1 - size)),
    sum(tables.map((table) => squares(before, table))),
  ];
}

/** What a table adds to the last of the nine. */
const squares = (before, table) => sum(table.map((who, seat) => sum(raised(before.seatsOf(who), seat).map((count) => count ** 2))));

/** The least spread of tables that are contiguous blocks of the standing, with as few short ones as can be. */
export function boundOf(before, byes) {
  const points = before.standing.filter((who) => !byes.includes(who)).map((who) => before.points.get(who));
  const { shorts } = fewest(points.length, before.sizes);
  // least[n][k]: of the first n with k short tables among theirs.
  const least = points.concat(0).map(() => Array(shorts + 1).fill(Infinity));
  least[0][0] = 0;
  for (let n = 1; n <= points.length; n++) {
    for (const size of before.sizes.filter((each) => each <= n)) {
      const own = points[n - size] - points[n - 1];
      const short = Number(size !== before.sizes[0]);
      for (let k = short; k <= shorts; k++) least[n][k] = Math.min(least[n][k], least[n - size][k - short] + own);
    }
  }
  const found = least[points.length][shorts];
  return found < Infinity ? found : 0;
}

/** Tables, by number, at which another order of the same players has more even seats: EVT-O1. */
export function unevenTables(before, tables) {
  return tables.flatMap((table, at) => (squares(before, table) > leastSquares(before, table) ? [at + 1] : []));
}

/** The least of `squares` over all orders of the players. */
function leastSquares(before, table) {
  // The addition when a player sits on a seat; the first to sit there leaves the others the seats that remain.
  const cost = table.map((who) => table.map((_, seat) => sum(raised(before.seatsOf(who), seat).map((count) => count ** 2))));
  const least = (player, seats) =>
    player === table.length ? 0 : Math.min(...seats.map((seat) => cost[player][seat] + least(player + 1, seats.filter((each) => each !== seat))));
  return least(0, table.map((_, seat) => seat));
}

// --- the knock-out ------------------------------------------------------------------------------------------------

/** Who plays the next round of the knock-out, by the standing before it began: EVT-K1, EVT-K3. */
export function seeds(event) {
  const { cut, cut_advance: advance } = event.terms;
  const order = new Tally(event, event.beforeCut).standings().map(({ number }) => number);
  const there = new Set(event.there(event.nextRound));
  const last = event.before.filter((round) => event.knockOut.includes(round)).at(-1);
  const present = order.filter((who) => there.has(who));
  if (!last) return present.slice(0, cut);
  const on = last.tables.flatMap((table, at) => {
    const result = played(last, at + 1);
    const placed = table.map((who, seat) => ({ who, place: result?.places[seat] ?? 0, rank: order.indexOf(who) }));
    const came = result ? placed.filter(({ place }) => place > 0) : placed;
    return came.sort((one, other) => one.place - other.place || one.rank - other.rank).slice(0, advance).map(({ who }) => who);
  });
  return present.filter((who) => on.includes(who));
}

/** The tables of the knock-out, 1, 8, 9 and 16 at the first of four: EVT-K2. */
export function snake(players, size) {
  const count = Math.ceil(players.length / size);
  const tables = Array.from({ length: count }, () => []);
  players.forEach((who, at) => {
    const [row, column] = [Math.floor(at / count), at % count];
    tables[row % 2 ? count - 1 - column : column].push(who);
  });
  return tables;
}
