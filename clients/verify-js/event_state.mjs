// The state of an event after each act, and its bytes that entries commit to: docs/event-state.md.

import { sha256, utf8 } from "./bytes.mjs";

/** How far an event has come; the numbers are in the encoding. */
export const PHASES = { entering: 0, opening: 1, playing: 2, over: 3 };
/** Where a pairing is from; the numbers are the schema's. */
export const ORIGINS = { swiss: 1, planned: 2, knock_out: 3, manual: 4, external: 5 };

const number32 = (n) => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
};
const drawn = (word, ...parts) => sha256(utf8(`tile-referee/v1/event-${word}\0`), ...parts);

/** What the terms say of the organiser's seed. */
export const seedCommitment = (seed) => drawn("commit", seed);
/** What a CheckIn says of an entrant's share. */
export const shareCommitment = (number, seed) => drawn("share", number32(number), seed);

/** Bencode, in pieces: of numbers, truths, bytes and lists. */
function* bencoded(value) {
  if (value instanceof Uint8Array) yield* [utf8(`${value.length}:`), value];
  else if (Array.isArray(value)) {
    yield utf8("l");
    for (const each of value) yield* bencoded(each);
    yield utf8("e");
  } else yield utf8(`i${Number(value)}e`);
}
const digestOf = (value) => sha256(...bencoded(value));

const NO_BYTES = new Uint8Array();
const ascending = (map) => [...map].sort(([one], [other]) => one - other);

const entrantDigest = (each) => {
  const { number, player, key, commitment, share, first, latePoints } = each;
  const truths = [each.isThere, each.hasWithdrawn, each.isExpelled];
  return digestOf([number, player, key, commitment, share, first, latePoints, truths, each.absent]);
};

const resultParts = ({ places, scores, forfeited, log }) => [places, scores, forfeited, log ? [log.game_id, log.size, log.root] : []];

const roundDigest = async (each) => {
  const paired = await digestOf([each.tables, each.byes, each.vector]);
  const results = ascending(each.results).map(([table, result]) => [table, ...resultParts(result)]);
  const truths = [each.isPublished, each.isClosed];
  return digestOf([each.number, paired, each.bound, each.origin, truths, results, ascending(each.games), ascending(each.awards), each.standings]);
};

/** Of a table that does not count. */
export const NO_RESULT = { places: [], scores: [], forfeited: [], log: undefined };

const isKnockOut = ({ origin }) => origin === ORIGINS.knock_out;
/** What a table came to, if it counts; tables have numbers from 1 on. */
export const played = (round, table) => {
  const result = round.results.get(table);
  return result?.places.length ? result : null;
};
/** The tables that have no result, ascending. */
export const undecided = ({ tables, results }) => tables.map((_, at) => at + 1).filter((table) => !results.has(table));

/** An event from its terms on. Entrants and rounds are values: a change puts others in their place. */
export class EventState {
  phase = PHASES.entering;
  key = NO_BYTES;
  isCut = false;
  isAbandoned = false;
  /** By number. */
  entrants = new Map();
  /** `first,second`, the smaller number first, to whether never. */
  forbidden = new Map();
  /** Tables by round. */
  plan = new Map();
  rounds = [];
  #digests = new WeakMap();

  constructor(terms) {
    this.terms = terms;
  }

  /** An independent one. */
  copy() {
    const copy = Object.assign(new EventState(this.terms), this);
    for (const name of ["entrants", "forbidden", "plan"]) copy[name] = new Map(this[name]);
    copy.#digests = this.#digests;
    return copy;
  }

  get newest() {
    return this.rounds.at(-1);
  }

  /** Whether every round that was paired is closed. */
  get isBetween() {
    return this.newest?.isClosed ?? true;
  }

  /** The round that is paired next, or again. */
  get nextRound() {
    return this.rounds.length + Number(this.isBetween);
  }

  /** Rounds that are over when the next is paired. */
  get before() {
    return this.isBetween ? this.rounds : this.rounds.slice(0, -1);
  }

  get knockOut() {
    return this.rounds.filter(isKnockOut);
  }

  get beforeCut() {
    return this.rounds.filter((round) => !isKnockOut(round));
  }

  roundOf(number) {
    return this.rounds[number - 1];
  }

  /** Who is to be paired in a round, ascending. */
  there(round) {
    const plays = ({ isThere, hasWithdrawn, isExpelled, first, absent }) =>
      isThere && !hasWithdrawn && !isExpelled && first <= round && !absent.includes(round);
    return [...this.entrants.values()].filter(plays).map(({ number }) => number).sort((one, other) => one - other);
  }

  /** Does what an act says, decoded. Whether it may be done was asked. */
  async apply(move) {
    const act = move[move.act];
    switch (move.act) {
      case "enter":
        return this.#enter(act);
      case "check_in":
        return this.#entrant(act.number, { isThere: true, commitment: act.commitment });
      case "share":
        return this.#entrant(act.number, { share: act.seed });
      case "withdraw":
        return this.#entrant(act.number, { hasWithdrawn: true });
      case "readmit":
        return this.#entrant(act.number, { hasWithdrawn: false });
      case "absent":
        return this.#entrant(act.number, { absent: [...new Set([...this.entrants.get(act.number).absent, act.round])].sort((one, other) => one - other) });
      case "expel":
        return this.#entrant(act.number, { isExpelled: true });
      case "forbid":
        return void this.forbidden.set(pairKey(act.first, act.second), Boolean(act.hard));
      case "close_entries":
        return void (this.phase = PHASES.opening);
      case "draw":
        return this.#draw(act.seed);
      case "plan":
        return void this.plan.set(act.round, act.tables.map(({ players }) => players));
      case "cut":
        return void (this.isCut = true);
      case "close":
      case "abandon":
        this.isAbandoned = move.act === "abandon";
        return void (this.phase = PHASES.over);
      case "pair":
        return this.#pair(act);
      default:
        return this.#changeRound(move.act, act);
    }
  }

  async #enter({ number, player, key, first_round: first, late_points: latePoints }) {
    const isThere = this.phase !== PHASES.entering;
    const none = { commitment: NO_BYTES, share: NO_BYTES, hasWithdrawn: false, isExpelled: false, absent: [] };
    const lot = await this.#lot(number);
    this.entrants.set(number, { number, player, key, first: first || 1, latePoints, isThere, lot, ...none });
  }

  #entrant(number, changes) {
    this.entrants.set(number, { ...this.entrants.get(number), ...changes });
  }

  #lot(number) {
    return drawn("lot", this.key, number32(number));
  }

  async #draw(seed) {
    const shares = ascending(this.entrants).flatMap(([number, { share }]) => (share.length ? [number32(number), share] : []));
    this.key = await drawn("key", seed, ...shares);
    this.phase = PHASES.playing;
    for (const number of this.entrants.keys()) this.#entrant(number, { lot: await this.#lot(number) });
  }

  #pair({ round: number, tables, byes, vector, bound, origin }) {
    const paired = { number, tables: tables.map(({ players }) => players), byes, vector, bound, origin };
    const none = { isPublished: false, isClosed: false, results: new Map(), games: new Map(), awards: new Map(), standings: NO_BYTES };
    this.rounds = [...this.before, { ...paired, ...none }];
  }

  #changeRound(name, act) {
    const round = this.roundOf(act.round);
    const put = (changes) => void (this.rounds = this.rounds.with(act.round - 1, { ...round, ...changes }));
    const result = (found) => put({ results: new Map([...round.results, [act.table, found]]) });
    switch (name) {
      case "publish":
        return put({ isPublished: true });
      case "open_table":
        return put({ games: new Map([...round.games, [act.table, act.game_id]]) });
      case "enter_result":
      case "amend":
        return result(act.result);
      case "void":
        return result(NO_RESULT);
      case "award":
        return put({ awards: new Map([...round.awards, [act.number, act.points]]) });
      case "reopen":
        return put({ isPublished: false, results: new Map(), games: new Map(), awards: new Map() });
      case "close_round":
        return put({ isClosed: true, standings: act.standings });
    }
    throw new Error(`no act ${name}`);
  }

  /** What the entry after this act commits to, 32 bytes. */
  async digest() {
    const kept = async (value, make) => {
      if (!this.#digests.has(value)) this.#digests.set(value, await make(value));
      return this.#digests.get(value);
    };
    const entrants = [];
    for (const [, each] of ascending(this.entrants)) entrants.push(await kept(each, entrantDigest));
    const rounds = [];
    for (const each of this.rounds) rounds.push(await kept(each, roundDigest));
    const forbidden = [...this.forbidden].map(([pair, never]) => [...pairOf(pair), never]).sort(([a, b], [c, d]) => a - c || b - d);
    return digestOf([this.phase, this.key, [this.isCut, this.isAbandoned], entrants, forbidden, ascending(this.plan), rounds]);
  }
}

/** Two entrants as a key. */
export const pairKey = (one, other) => (one < other ? `${one},${other}` : `${other},${one}`);
const pairOf = (key) => key.split(",").map(Number);
