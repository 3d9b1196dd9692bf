// The demands on one entry alone and in its place, section 4 without the rules: the same for a file and for a live game.

import { Refusal, equal, hex } from "./bytes.mjs";
import { GAMES, GameOpen, Intent } from "./schema.mjs";
import { decodeBody, stated } from "./wire.mjs";

const FORMAT_VERSION = 1n;
const MAX_SEATS = 255;
/** `prev` of entry 0. */
export const NO_PREV = new Uint8Array(32);
const TABLE_RULES = 3;
const MONTH_MS = 30 * 86_400_000;
// Events and acts by the rules of the table: not offered in games without them.
const OF_THE_TABLE = new Set(["timeout", "absent", "interrupted", "stand_in", "resign", "consent", "protest", "appeal", "take_back", "correct", "rule"]);

const distinct = (values) => new Set(values.map(hex)).size === values.length;

/** GameOpen of entry 0. Throws a Refusal. */
export function readOpen(entry) {
  const malformed = (message) => new Refusal("MALFORMED", message);
  if (!entry.open) throw new Refusal("NOT_AWAITED", "entry 0 is no GameOpen");
  const version = stated(entry.open, 1) ?? FORMAT_VERSION;
  if (version !== FORMAT_VERSION) throw new Refusal("UNSUPPORTED", `format version ${version}`, { version: Number(version) });
  const table = stated(entry.open, 7, 3) ?? 0;
  if (table > TABLE_RULES) throw new Refusal("UNSUPPORTED", `version ${table} of the rules of the table`, { version: Number(table) });
  const open = decodeBody(GameOpen, entry.open);
  if (open.seats.length > MAX_SEATS) throw malformed("more than 255 seats");
  if (!distinct(open.scribe_keys) || !distinct(open.arbiter_keys)) throw malformed("a key twice");
  const scribed = open.seats.filter((seat) => seat.scribed).length;
  if (scribed && !open.scribe_keys.length) throw malformed("a scribed seat without a scribe");
  if (open.declared && open.declared.scribe >= open.scribe_keys.length) throw malformed("the declaring scribe does not exist");
  if (open.dealt && scribed === open.seats.length) throw malformed("a dealt game in which no seat joins");
  checkTerms(open);
  if (open.series && (open.series.index === 0) !== (open.series.previous_head.length === 0)) {
    throw malformed("series: the previous head is there in every game but the first");
  }
  return open;
}

/** The messages of the rules that GameOpen names, undefined if they are not known. */
export const gameOf = (open) => GAMES[open.rules_id]?.[open.rules_version];

/** Options and components, of which nothing is kept. Throws a Refusal. */
export function readTables(open, game) {
  decodeBody(game.options, open.options);
  decodeBody(game.tables, open.tables);
}

/** The entry with its intent decoded, if it has one, and with moves and outcomes of the game read. Throws a Refusal. */
export function readActs(entry, { open, game }) {
  const carrier = entry.signed ?? entry.refused;
  if (carrier) entry.intent = decodeBody(Intent, carrier.intent);
  const { intent } = entry;
  if (open && intent?.join && (intent.join.commitment.length > 0) !== Boolean(open.dealt)) {
    throw new Refusal("MALFORMED", "a Join has a commitment in dealt games and only there");
  }
  if (entry.recovered) checkLoss(entry.recovered);
  if (game && intent?.move) decodeBody(game.move, intent.move);
  if (game && intent?.declare) decodeBody(game.outcome, intent.declare);
  if (game && entry.chance) decodeBody(game.outcome, entry.chance.outcome);
  return entry;
}

/** A loss names either the lost head or the time of the copy. Throws a Refusal. */
function checkLoss({ lost_size: size, lost_root: root, copied_ms: copied, declared_ms: declared }) {
  if (copied ? size || root.length : root.length !== 32 || declared) {
    throw new Refusal("MALFORMED", "Recovered names either a lost head or the time of a copy");
  }
}

/** What is wrong with the place that an entry and its intent name, [code, message, facts], or null. */
export function linkFault(entry, { gameId, seq, prev }) {
  for (const [what, part] of [["entry", entry], ["intent", entry.intent]]) {
    if (!part) continue;
    if (!equal(part.game_id, gameId)) return ["WRONG_GAME", `${what} of another game`];
    if (part.seq !== seq) return ["STALE_HEAD", `${what} with seq ${part.seq}`, { seq: Number(part.seq) }];
    if (!equal(part.prev, prev)) return ["STALE_HEAD", `${what} after another history`];
  }
  return null;
}

/** Whether the terms of the game offer the entry's event and act. */
export function isOffered({ event, intent }, { terms }) {
  const table = terms?.table_rules ?? 0;
  return [event, intent?.act].every((what) => table >= (what === "change_key" ? 2 : Number(OF_THE_TABLE.has(what))));
}

/** Base, increment and delay of a clock, in milliseconds. */
function control({ per_move: perMove, increment, delay, correspondence }) {
  if (perMove) return [perMove.move_ms, 0, 0];
  if (increment) return [increment.base_ms, increment.increment_ms, 0];
  if (delay) return [delay.base_ms, 0, delay.delay_ms];
  return [correspondence.days * 86_400_000, 0, 0];
}

/** That the terms make sense. Throws a Refusal. */
function checkTerms({ terms, seats, arbiter_keys: arbiters }) {
  if (!terms) return;
  const need = (condition, message) => {
    if (!condition) throw new Refusal("MALFORMED", `terms: ${message}`);
  };
  const { table_rules: version, clock, strikes, penalty_ms: penalty, absence_ms: absence, protest_ms: protest } = terms;
  need(version || !(clock || strikes || penalty || absence || terms.take_backs || protest), "rules of the table are not named");
  need(terms.grace_ms === undefined || version >= 3, "a grace before version 3 of the rules of the table");
  if (clock) {
    need(clock.control, "a clock without a control");
    const [base, increment, delay] = control(clock);
    need(base >= 1 && base <= MONTH_MS && increment <= MONTH_MS && delay <= 86_400_000 && clock.lag_ms <= 10_000, "a clock");
  }
  need(strikes <= 32 && penalty <= MONTH_MS && absence <= MONTH_MS && protest <= MONTH_MS, "too much");
  need((terms.grace_ms ?? 0) <= 3_600_000, "too much grace");
  need(terms.illegal_moves || !(strikes || penalty), "attempts are not recorded");
  need(!penalty || clock, "a penalty without a clock");
  need(!terms.take_backs || !clock || seats.length > 1, "one seat takes back with a clock");
  need(!protest || arbiters.length, "no arbiter rules on protests");
}
