// The check of an act before it is entered: every rule of docs/rules/event.md that it breaks, except that no exchange of two players
// makes a round better (EVT-P8, with EVT-P3, EVT-P4, EVT-B3 and EVT-P9 in it) and what is in the logs of games.

import { equal } from "./bytes.mjs";
import { Situation, boundOf, seeds, snake, unevenTables, unlawful, vectorOf } from "./event_pairing.mjs";
import { standingsHash, standingsOf } from "./event_points.mjs";
import { ORIGINS, PHASES, pairKey, seedCommitment, shareCommitment, undecided } from "./event_state.mjs";
import { MAX_ENTRANTS, MAX_POINTS, PARTS, placePoints } from "./event_terms.mjs";

const MOST_OF_REASON = 200;
const BY_PROGRAM = new Set([ORIGINS.swiss, ORIGINS.planned, ORIGINS.knock_out]);
const UNSEEN = /[\p{C}\p{Z}]/u;
const listed = (numbers) => numbers.join(" ");
const sameLists = (one, other) => one.length === other.length && one.every((each, at) => each === other[at]);
const sortedCopy = (numbers) => [...numbers].sort((one, other) => one - other);

/** The rules that an act breaks, decoded as `move`, in an event: `[[rule, what], ...]`. */
export async function brokenBy(event, move) {
  const found = event.phase === PHASES.over ? [["EVT-E1", "the event is over"]] : [];
  if (!found.length) for await (const each of ACTS[move.act](event, move[move.act])) found.push(each);
  return [...found, ...reasonOf(move)];
}

/** EVT-E2: who departs from the rule says why. */
function* reasonOf({ act, [act]: { reason, origin } }) {
  if (reason === undefined || (act === "pair" && BY_PROGRAM.has(origin))) return;
  if (!reason.trim() || [...reason].length > MOST_OF_REASON || UNSEEN.test(reason.replaceAll(" ", ""))) {
    yield ["EVT-E2", `expected a reason of 1 to ${MOST_OF_REASON} characters on one line`];
  }
}

// --- who and what an act may name ----------------------------------------------------------------------------------

function* named(event, ...numbers) {
  for (const number of numbers) {
    const entrant = event.entrants.get(number);
    if (!entrant) yield ["EVT-R1", `there is no entrant ${number}`];
    else if (entrant.isExpelled) yield ["EVT-R6", `entrant ${number} was expelled`];
  }
}

/** The round is the one that is being paired or played. */
function* current(event, number, isPublished) {
  const round = event.roundOf(number);
  if (!round || round.isClosed) yield ["EVT-U1", `round ${number} is not paired, or is closed`];
  else if (round.isPublished !== isPublished) yield ["EVT-U1", `round ${number} is ${isPublished ? "not published yet" : "published already"}`];
}

function* ofTable(event, { round: number, table }) {
  yield* current(event, number, true);
  const round = event.roundOf(number);
  if (round && !round.tables[table - 1]) yield ["EVT-G2", `round ${number} has no table ${table}`];
}

function* publishedOnce(event, number) {
  if (!event.roundOf(number)?.isPublished) yield ["EVT-G2", `round ${number} is not published`];
}

// --- entrants ------------------------------------------------------------------------------------------------------

function* mayEnter(event, { number, player, key, first_round: first, late_points: late }) {
  const { terms, entrants, phase, nextRound } = event;
  if (number < 1 || number > 0xffff || entrants.has(number)) yield ["EVT-R1", `the number ${number} is taken, or none`];
  const is = (one, other) => one.length > 0 && equal(one, other);
  if ([...entrants.values()].some((each) => is(player, each.player) || is(key, each.key))) yield ["EVT-R1", "an entrant enters once"];
  if (entrants.size >= MAX_ENTRANTS) yield ["EVT-R2", `more than ${MAX_ENTRANTS} entrants`];
  if (phase === PHASES.entering) {
    if (first || late) yield ["EVT-R3", "the entry is not late, and begins with round 1"];
    return;
  }
  const isInTime = phase === PHASES.playing && first >= nextRound && first <= terms.late_until;
  if (!isInTime) yield ["EVT-R2", `an entry from round ${first} on, after entries were closed`];
  if (late !== terms.late_points * (first - 1)) yield ["EVT-R3", `${late}/60 points for the rounds before ${first}`];
}

function* mayCheckIn(event, { number, commitment }) {
  yield* named(event, number);
  if (event.phase === PHASES.opening || (event.phase === PHASES.playing && commitment.length)) {
    yield ["EVT-S13", `entrant ${number} checks in when entries are closed`];
  }
  if (event.entrants.get(number)?.isThere) yield ["EVT-R1", `entrant ${number} has checked in already`];
}

function* mayForbid(event, { first, second }) {
  yield* named(event, first, second);
  if (first === second) yield ["EVT-R1", "a pair needs two different entrants"];
  if (event.rounds.length) yield ["EVT-P5", "a pair is forbidden after round 1 was paired"];
}

async function* mayShare(event, { number, seed }) {
  yield* named(event, number);
  if (event.phase !== PHASES.opening) yield ["EVT-E1", "shares are opened between the end of entries and the draw"];
  const entrant = event.entrants.get(number);
  if (entrant && (entrant.share.length || !equal(entrant.commitment, await shareCommitment(number, seed)))) {
    yield ["EVT-S13", `the share of entrant ${number} is opened already, or is not the one committed to`];
  }
}

async function* mayDraw(event, { seed }) {
  if (event.phase !== PHASES.opening) yield ["EVT-E1", "the draw comes once, after entries are closed"];
  if (!equal(event.terms.commitment, await seedCommitment(seed))) yield ["EVT-S13", "the seed is not the one that the terms commit to"];
}

function* mayLeave(event, { number }, isLeaving) {
  yield* named(event, number);
  const entrant = event.entrants.get(number);
  if (entrant && entrant.hasWithdrawn === isLeaving) yield ["EVT-R5", `entrant ${number} has ${isLeaving ? "" : "not "}withdrawn`];
}

function* mayMiss(event, { number, round }) {
  yield* named(event, number);
  if (round < event.nextRound || round > event.terms.rounds) yield ["EVT-R7", `the absence from round ${round} comes too late, or there is no such round`];
}

// --- rounds --------------------------------------------------------------------------------------------------------

function* mayPlan(event, { round, tables: planned }) {
  const tables = planned.map(({ players }) => players);
  if (round < event.nextRound || round > event.terms.rounds) yield ["EVT-P11", `round ${round} is paired already, or is none`];
  const all = tables.flat();
  for (const who of new Set(all)) {
    if (!event.entrants.has(who) || all.indexOf(who) !== all.lastIndexOf(who)) yield ["EVT-P11", `entrant ${who} is twice in the plan, or is none`];
  }
  for (const [at, table] of tables.entries()) if (!event.terms.sizes.includes(table.length)) yield ["EVT-P2", `table ${at + 1} is one of ${table.length}`];
  const meetings = (rows) => rows.flatMap((row) => row.flatMap((one, at) => row.slice(at + 1).map((other) => pairKey(one, other))));
  const here = new Set(meetings(event.plan.get(round) ?? []));
  const elsewhere = new Set(meetings([...event.plan.values()].flat()).filter((pair) => !here.has(pair)));
  for (const pair of meetings(tables)) if (elsewhere.has(pair)) yield ["EVT-P11", `entrants ${pair} meet in another round of the plan`];
}

function* mayPair(event, act) {
  const { round, origin } = act;
  const { nextRound, newest, isBetween, isCut, terms } = event;
  if (event.phase !== PHASES.playing) return yield ["EVT-P12", "rounds are paired after the draw"];
  if (round !== nextRound) return yield ["EVT-P12", `the next round is ${nextRound}, not ${round}`];
  if (!isBetween && newest.isPublished) {
    const hasBegun = newest.results.size > 0 || newest.games.size > 0;
    yield [hasBegun ? "EVT-U3" : "EVT-U2", `round ${round} is published, and was not reopened`];
  }
  if ((origin === ORIGINS.knock_out) !== isCut || (round > terms.rounds && !isCut)) {
    return yield ["EVT-P12", `rounds 1 to ${terms.rounds} come first, then the cut, then the knock-out`];
  }
  if (isCut) return yield* isKnockOutPairing(event, act);
  if (event.there(round).length < Math.min(...terms.sizes)) return yield ["EVT-R4", "fewer are there than the smallest table seats"];
  return yield* isPairing(event, act);
}

function* isPairing(event, act) {
  const { round, byes, vector, bound, origin, engine_vector: engines } = act;
  const tables = act.tables.map(({ players }) => players);
  const before = new Situation(event);
  const found = [...unlawful(before, { tables, byes })];
  yield* found;
  if (found.some(([rule]) => rule === "EVT-P1" || rule === "EVT-P2")) return;
  const expected = vectorOf(before, { tables, byes });
  if (!sameLists(vector, expected)) yield ["EVT-P6", `the vector is ${listed(expected)}, not ${listed(vector)}`];
  const least = boundOf(before, byes);
  if (bound !== least) yield ["EVT-P7", `the bound is ${least}, not ${bound}`];
  if (origin === ORIGINS.swiss) {
    for (const table of unevenTables(before, tables)) yield ["EVT-O1", `table ${table}: another order of seats is more even`];
  } else if (origin === ORIGINS.planned) {
    const rows = event.plan.get(round) ?? [];
    const isPlanned = rows.length === tables.length && rows.every((row, at) => sameLists(sortedCopy(new Set(row)), sortedCopy(new Set(tables[at]))));
    if (!isPlanned) yield ["EVT-P11", `the tables are not those of the plan of round ${round}`];
  } else if (engines.length !== expected.length) yield ["EVT-P10", "the vector of the engine's own pairing is missing"];
}

function* isKnockOutPairing(event, { tables: paired, byes, vector, bound }) {
  const tables = paired.map(({ players }) => players);
  const players = seeds(event);
  if (players.length < 2) yield ["EVT-R4", "fewer than two entrants are there"];
  const expected = snake(players, event.terms.cut_size);
  const words = expected.map(listed).join("; ");
  const are = (same) => tables.length === expected.length && tables.every((table, at) => same(table, expected[at]));
  if (!are((one, other) => sameLists(sortedCopy(one), sortedCopy(other))) || byes.length || vector.length || bound) {
    yield ["EVT-K2", `expected tables ${words}, and nothing else`];
  } else if (!are(sameLists)) yield ["EVT-O3", `expected seats ${words}`];
}

function* mayPublish(event, { round: number }) {
  yield* current(event, number, false);
  const round = event.roundOf(number);
  if (!round || round.origin === ORIGINS.knock_out) return;
  const there = new Set(event.there(number));
  const paired = new Set([...round.tables.flat(), ...round.byes]);
  for (const who of new Set([...there, ...paired])) {
    if (there.has(who) !== paired.has(who)) yield ["EVT-P1", `entrant ${who} left or came back since round ${number} was paired`];
  }
}

/** EVT-S14. */
async function* areStandings(event, standings) {
  if (!equal(standings, await standingsHash(standingsOf(event)))) yield ["EVT-S14", "the standings are not those of the log"];
}

async function* mayCloseRound(event, { round: number, standings }) {
  yield* current(event, number, true);
  const round = event.roundOf(number);
  if (!round) return;
  const open = undecided(round);
  for (const table of open) yield ["EVT-G4", `table ${table} of round ${number} has no result`];
  if (!open.length) yield* areStandings(event, standings);
}

function* mayCut({ terms, isCut, isBetween, beforeCut }) {
  if (!terms.cut || isCut) yield ["EVT-K1", "the terms have no cut, or it was made"];
  if (!isBetween || beforeCut.length < terms.rounds) yield ["EVT-K1", "the cut comes after the last round before the knock-out"];
}

async function* mayClose(event, { standings }) {
  const { terms, rounds, isBetween, newest } = event;
  const isFinal = newest?.origin === ORIGINS.knock_out && newest.isClosed && newest.tables.length === 1;
  const isDone = terms.cut ? isFinal : rounds.length === terms.rounds;
  if (!isDone || !isBetween) yield ["EVT-E3", "rounds are left to play"];
  else yield* areStandings(event, standings);
}

// --- tables --------------------------------------------------------------------------------------------------------

function* mayOpen(event, act) {
  yield* ofTable(event, act);
  const games = event.rounds.flatMap((round) => [...round.games.values()]);
  if (games.some((id) => equal(id, act.game_id))) yield ["EVT-G1", "the game is another table's"];
}

/** EVT-G1, EVT-G2, EVT-S3: the result is of this table's seats, with places that can be. */
function* isResult(event, { round: number, table, result }) {
  const { places, scores, forfeited, log } = result;
  const round = event.roundOf(number);
  const seats = round?.tables[table - 1]?.length;
  const where = `round ${number}, table ${table}`;
  if (!seats) return yield ["EVT-G2", `${where}: there is no such table`];
  const there = places.filter((place) => place > 0);
  const canBe = there.every((place) => place === 1 + there.filter((other) => other < place).length);
  if (places.length !== seats || !canBe) return yield ["EVT-G2", `${where}: expected a place for each of ${seats} seats`];
  if (scores.length && scores.length !== seats) return yield ["EVT-G2", `${where}: expected scores of ${seats} seats, or none`];
  if (forfeited.some((seat, at) => !places[seat] || (at > 0 && seat <= forfeited[at - 1]))) {
    yield ["EVT-G2", `${where}: a player who forfeits was at the table, and is named once, in the order of the seats`];
  }
  if (there.length < 2) yield ["EVT-S3", `${where}: a table is played by two or more`];
  if (round.origin !== ORIGINS.knock_out && !placePoints(event.terms, there.length)) {
    yield ["EVT-S3", `${where}: ${there.length} were there, for whom the terms have no points`];
  }
  if (!log) return;
  const opened = round.games.get(table);
  if (opened && !equal(opened, log.game_id)) yield ["EVT-G1", `${where}: the log is of another game than the one opened for the table`];
  const others = event.rounds.flatMap((each) => [...each.results].flatMap(([at, { log: theirs }]) => (theirs && !(each === round && at === table) ? [theirs.game_id] : [])));
  if (others.some((id) => equal(id, log.game_id))) yield ["EVT-G1", `${where}: the log is another table's`];
}

function* mayEnterResult(event, act) {
  yield* ofTable(event, act);
  yield* isResult(event, act);
  if (event.roundOf(act.round)?.results.has(act.table)) yield ["EVT-G3", `round ${act.round}, table ${act.table} has a result; another is an amendment`];
}

function* mayAmend(event, act) {
  yield* publishedOnce(event, act.round);
  yield* isResult(event, act);
  if (!event.roundOf(act.round)?.results.has(act.table)) yield ["EVT-G3", `round ${act.round}, table ${act.table} has no result to amend`];
}

function* mayAward(event, { round, number, points }) {
  yield* publishedOnce(event, round);
  yield* named(event, number);
  if (points > MAX_POINTS * PARTS) yield ["EVT-G5", `more than ${MAX_POINTS} points`];
}

const ACTS = {
  enter: mayEnter,
  check_in: mayCheckIn,
  forbid: mayForbid,
  *close_entries({ phase }) {
    if (phase !== PHASES.entering) yield ["EVT-E1", "entries are closed already"];
  },
  share: mayShare,
  draw: mayDraw,
  plan: mayPlan,
  withdraw: (event, act) => mayLeave(event, act, true),
  readmit: (event, act) => mayLeave(event, act, false),
  absent: mayMiss,
  expel: (event, { number }) => named(event, number),
  pair: mayPair,
  publish: mayPublish,
  open_table: mayOpen,
  enter_result: mayEnterResult,
  amend: mayAmend,
  award: mayAward,
  void: ofTable,
  reopen: (event, { round }) => current(event, round, true),
  close_round: mayCloseRound,
  cut: mayCut,
  close: mayClose,
  *abandon() {},
};
