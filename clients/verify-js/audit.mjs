// The layers of section 8 up to the deck; the rules of the games are not looked at.

import { Refusal, equal, hex, join, sha256, text, utf8 } from "./bytes.mjs";
import { refereeCommitment, seatCommitment } from "./deck.mjs";
import { isKey, verifies } from "./ed25519.mjs";
import { CHECKPOINT, ENTRY, HEADER, MAX_ENTRIES, MAX_FILE, OLDER, WORDS, readFrames } from "./frames.mjs";
import { checkSigned, leafHash, parseCheckpoint, roots } from "./note.mjs";
import { Entry, GAMES, GameOpen, Header, Intent, Remark } from "./schema.mjs";
import { decode, decodeBody, records, stated } from "./wire.mjs";

const LAYERS = ["limits", "frames", "header", "decode", "chain", "tree", "checkpoint", "receipts", "authors", "deck", "rules", "certificates"];

/** Verdicts by their exit codes. */
export const VERDICTS = {
  COMPLETE: 0,
  PREFIX: 3,
  CORRUPT: 4,
  UNTRUSTED_KEY: 5,
  STALE: 6,
  FORK: 7,
  RULES: 8,
  UNSUPPORTED: 9,
  UNDISCLOSED: 10,
};

/** Layer and verdict of each code, where the place of the failure does not give it another layer. */
const CODES = {
  LIMIT: ["limits", "CORRUPT"],
  FRAME: ["frames", "CORRUPT"],
  HEADER: ["header", "CORRUPT"],
  MALFORMED: ["decode", "CORRUPT"],
  WRONG_GAME: ["chain", "CORRUPT"],
  STALE_HEAD: ["chain", "CORRUPT"],
  NOTE: ["tree", "CORRUPT"],
  CHECKPOINT: ["tree", "CORRUPT"],
  NOTE_SIGNATURE: ["checkpoint", "CORRUPT"],
  UNTRUSTED_KEY: ["checkpoint", "UNTRUSTED_KEY"],
  FORK: ["receipts", "FORK"],
  STALE: ["receipts", "STALE"],
  KEY: ["authors", "CORRUPT"],
  AUTHOR: ["authors", "CORRUPT"],
  AUTHOR_SIGNATURE: ["authors", "CORRUPT"],
  DECK: ["deck", "RULES"],
  NOT_AWAITED: ["rules", "RULES"],
  REMARK: ["certificates", "CORRUPT"],
  UNSUPPORTED: ["rules", "UNSUPPORTED"],
};

const MAX_CHARACTERS = 4000;
const SALT_BYTES = 16;
export const HIDDEN = /[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff\u{e0000}-\u{e0fff}]/u;
const WORDS_DOMAIN = utf8("tile-referee/v1/remark\0");
const LOG_FILE = "referee/log/v1/log.proto";
const INTENT_TYPE = "application/vnd.tile-referee.intent.v1+protobuf";
const FORMAT_VERSION = 1n;
const MAX_SEATS = 255;
const NO_PREV = new Uint8Array(32);
const TABLE_RULES = 2;
const MONTH_MS = 30 * 86_400_000;
// Events and acts by the rules of the table: not offered in games without them.
const OF_THE_TABLE = new Set(["timeout", "absent", "interrupted", "stand_in", "resign", "consent", "protest", "appeal", "take_back", "correct", "rule"]);
/** What may come before every seat has joined, by the version of the rules of the table. */
const BEFORE_ALL_JOINED_1 = new Set(["open", "join", "end", "disclose", "recovered"]);
const BEFORE_ALL_JOINED = new Set([...BEFORE_ALL_JOINED_1, "absent", "resign", "protest", "appeal", "rule"]);

/** What DSSE has an author sign. */
export const signedBytes = (body) => join(utf8(`DSSEv1 ${INTENT_TYPE.length} ${INTENT_TYPE} ${body.length} `), body);

const distinct = (values) => new Set(values.map(hex)).size === values.length;

class Audit {
  constructor({ key = null, seatKeys = {}, scribeKeys = {}, receipts = [] }) {
    Object.assign(this, { key, seatKeys, scribeKeys, receipts });
    this.failures = new Map();
    this.remarks = [];
    this.frames = [];
    /** Decoded, with their intents; null where that failed. */
    this.entries = [];
    this.open = null;
    /** Of a later version of the format, or of the rules of the table: what cannot be read of it is no failure. */
    this.isLater = false;
    this.gameId = null;
    this.covered = 0;
  }

  /** Keeps the first failure of a layer. */
  fail(code, message, entry = null, offset = null, layer = CODES[code][0]) {
    if (!this.failures.has(layer)) this.failures.set(layer, { layer, code, entry, offset, message });
  }

  failAt(n, code, message, layer = undefined) {
    this.fail(code, message, n, this.frames[n].offset, layer);
  }

  /** Runs a step; a Refusal becomes the failure of entry n. */
  attempt(n, step) {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!this.isLater) this.failAt(n, error.code, error.message);
      this.isLater ||= n === 0 && error.code === "UNSUPPORTED";
      return null;
    }
  }

  async run(file) {
    const receipts = await this.readReceipts();
    if (file.length > MAX_FILE) {
      this.fail("LIMIT", "a file of more than 64 MiB", 0);
      return this.report();
    }
    this.file = await readFrames(file);
    const { stop, offset, entries } = this.file;
    this.frames = this.file.frames.filter((frame) => frame.type === ENTRY);
    if (stop && stop.code !== "TORN") this.fail(stop.code, stop.message, entries, offset);
    this.leaves = await Promise.all(this.frames.map((frame) => leafHash(frame.payload)));
    for (const [n, frame] of this.frames.entries()) {
      this.entries.push(this.attempt(n, () => this.decodeEntry(n, frame.payload)));
    }
    if (this.openBytes) {
      this.gameId = (await sha256(this.openBytes)).subarray(0, 16);
      this.chain();
    }
    await this.heads(receipts);
    if (this.open) {
      await this.header();
      await this.authors();
      await this.deck();
      this.acts();
    }
    await this.words();
    return this.report();
  }

  // --- decode and header -----------------------------------------------------------------------------

  decodeEntry(n, payload) {
    const entry = decode(Entry, payload);
    if (n === 0) this.attempt(0, () => this.decodeOpen(entry));
    const carrier = entry.signed ?? entry.refused;
    if (carrier) entry.intent = decodeBody(Intent, carrier.intent);
    const { intent } = entry;
    if (this.open && intent?.join && (intent.join.commitment.length > 0) !== Boolean(this.open.dealt)) {
      throw new Refusal("MALFORMED", "a Join has a commitment in dealt games and only there");
    }
    if (this.game && intent?.move) decodeBody(this.game.move, intent.move);
    if (this.game && intent?.declare) decodeBody(this.game.outcome, intent.declare);
    if (this.game && entry.chance) decodeBody(this.game.outcome, entry.chance.outcome);
    return entry;
  }

  decodeOpen(entry) {
    const malformed = (message) => new Refusal("MALFORMED", message);
    this.openBytes = entry.open ?? new Uint8Array();
    if (!entry.open) throw new Refusal("NOT_AWAITED", "entry 0 is no GameOpen");
    const version = stated(entry.open, 1) ?? FORMAT_VERSION;
    if (version !== FORMAT_VERSION) throw new Refusal("UNSUPPORTED", `format version ${version}`);
    const table = stated(entry.open, 7, 3) ?? 0;
    if (table > TABLE_RULES) throw new Refusal("UNSUPPORTED", `version ${table} of the rules of the table`);
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
    this.open = open;
    this.game = GAMES[open.rules_id]?.[open.rules_version];
    if (this.game) {
      decodeBody(this.game.options, open.options);
      decodeBody(this.game.tables, open.tables);
    }
  }

  async header() {
    const { payload, offset } = this.file.frames.find(({ type }) => type === HEADER);
    const hash = await sha256(payload);
    const bad = (message) => new Refusal("HEADER", message);
    try {
      const header = decode(Header, payload);
      if (!equal(this.open.header_hash, hash)) throw bad("GameOpen has another header's hash");
      if (header.rules_id !== this.open.rules_id || header.rules_version !== this.open.rules_version) {
        throw bad("other rules than GameOpen names");
      }
      const names = describedFiles(header.descriptors);
      if (!names || new Set(names).size < names.length) throw bad("expected a FileDescriptorSet with each file once");
      for (const name of [LOG_FILE, this.game?.file]) if (name && !names.includes(name)) throw bad(`${name} is not described`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.fail(error.code, error.message, 0, offset);
    }
  }

  // --- chain, tree, checkpoints ----------------------------------------------------------------------

  chain() {
    for (const [n, entry] of this.entries.entries()) {
      const prev = n ? this.leaves[n - 1] : NO_PREV;
      for (const [what, part] of [["entry", entry], ["intent", entry?.intent]]) {
        if (!part) continue;
        if (!equal(part.game_id, this.gameId)) return this.failAt(n, "WRONG_GAME", `${what} of another game`);
        if (part.seq !== n) return this.failAt(n, "STALE_HEAD", `${what} with seq ${part.seq}`);
        if (!equal(part.prev, prev)) return this.failAt(n, "STALE_HEAD", `${what} after another history`);
      }
    }
  }

  /** Checkpoints of the caller. Throws a Refusal for one that the pinned key did not sign. */
  async readReceipts() {
    if (this.receipts.length && !this.key) throw new Refusal("UNTRUSTED_KEY", "a receipt, and no verifier key");
    return Promise.all(this.receipts.map(async (bytes) => ({ what: "receipt", ...(await openCheckpoint(bytes, this.key)) })));
  }

  /** Older checkpoints in the file that can be compared; remarks on the others. */
  async readOlder() {
    const found = [];
    for (const { payload, offset, entries } of this.key ? this.file.frames.filter(({ type }) => type === OLDER) : []) {
      let why = "it comes late";
      try {
        const checkpoint = await openCheckpoint(payload, this.key);
        if (checkpoint.size >= entries) {
          found.push({ what: "checkpoint", ...checkpoint });
          continue;
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        why = error.message;
      }
      this.remarks.push(`the older checkpoint at byte ${offset} is not compared: ${why}`);
    }
    return found;
  }

  /** Layers tree, checkpoint and receipts. */
  async heads(receipts) {
    const others = [...(await this.readOlder()), ...receipts];
    const size = BigInt(this.leaves.length);
    const known = await roots(this.leaves, new Set([...others.map((head) => Number(head.size)), Number(size)]));
    const ours = (head) => this.gameId !== null && head.gameId === hex(this.gameId);
    const fits = (head) => ours(head) && head.size <= size && equal(head.root, known.get(Number(head.size)));
    const last = this.file.frames.find(({ type }) => type === CHECKPOINT);
    let holds = false;
    if (last) {
      try {
        const head = parseCheckpoint(last.payload);
        if (!ours(head)) throw new Refusal("CHECKPOINT", "the last checkpoint is of another game");
        if (head.size !== size) throw new Refusal("CHECKPOINT", `the last checkpoint is of ${head.size} entries`);
        if (!fits(head)) throw new Refusal("CHECKPOINT", "the last checkpoint has another root");
        if (!this.key) throw new Refusal("UNTRUSTED_KEY", "no verifier key was given");
        await checkSigned(head, this.key);
        holds = true;
        this.covered = this.leaves.length;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        this.fail(error.code, error.message, null, last.offset);
      }
    } else if (!this.key) this.fail("UNTRUSTED_KEY", "no verifier key was given");
    const stale = others.filter((head) => head.size > size && (ours(head) || size === 0n));
    for (const head of others.filter((head) => !stale.includes(head)).sort((a, b) => Number(a.size - b.size))) {
      if (!ours(head)) this.fail("CHECKPOINT", `a ${head.what} of another game`);
      else if (fits(head)) this.covered = Math.max(this.covered, Number(head.size));
      else this.fail(holds ? "FORK" : "CHECKPOINT", `a signed ${head.what} has another root`, Number(head.size) - 1);
    }
    for (const head of stale) this.fail("STALE", `a signed ${head.what} covers ${head.size} entries, the file ${size}`);
  }

  // --- authors, deck, acts ---------------------------------------------------------------------------

  async authors() {
    const { open } = this;
    if (![...open.arbiter_keys, ...open.scribe_keys].every(isKey)) return this.failAt(0, "KEY", "a weak key in GameOpen");
    const untrusted = (n, message) => this.failAt(n, "UNTRUSTED_KEY", message, "authors");
    for (const [index, key] of Object.entries(this.scribeKeys)) {
      if (!open.scribe_keys[index] || !equal(open.scribe_keys[index], key)) untrusted(0, `scribe ${index} has another key`);
    }
    for (const seat of Object.keys(this.seatKeys)) {
      if (!open.seats[seat] || open.seats[seat].scribed) untrusted(0, `seat ${seat} brings no key of its own`);
    }
    /** By seat: the keys that can sign for it, the newest last; and those that have, from entry n to entry until. */
    const keys = new Map();
    const used = new Map();
    for (const [n, entry] of this.entries.entries()) {
      if (!entry?.intent) continue;
      const failure = await this.author(entry, keys);
      if (failure) this.failAt(n, ...failure);
      else await this.noteKeys(n, entry, keys, used);
    }
    for (const [seat, pinned] of Object.entries(this.seatKeys)) {
      const had = used.get(Number(seat));
      const at = had?.findIndex(({ key }) => equal(key, pinned));
      if (at === -1) untrusted(had[0].n, `seat ${seat} joins with another key`);
      if (!(at >= 0)) continue;
      const from = at ? ` from entry ${had[at].n}` : "";
      const until = had[at].until === undefined ? "" : ` up to entry ${had[at].until}`;
      if (from || until) this.remarks.push(`seat ${seat}: the key that you gave holds${from}${until}`);
    }
    const beforePlay = open.terms?.table_rules > 1 ? BEFORE_ALL_JOINED : BEFORE_ALL_JOINED_1;
    const wentOn = this.entries.some((entry) => entry && !beforePlay.has(entry.intent?.act ?? entry.event));
    const putOut = new Set(this.entries.map((entry) => entry?.absent?.seat ?? entry?.intent?.rule?.forfeit?.seat));
    for (const seat of Object.keys(this.seatKeys)) {
      if (used.has(Number(seat)) || !open.seats[seat] || open.seats[seat].scribed) continue;
      const message = `seat ${seat}, whose key you gave, never joined`;
      if (wentOn && !putOut.has(Number(seat))) this.fail("UNTRUSTED_KEY", message, null, null, "authors");
      else this.remarks.push(message);
    }
  }

  /** What is wrong with an intent's author, [code, message], or null. */
  async author({ intent, signed, refused }, keys) {
    const { intent: body, signature, key_id: keyId } = signed ?? refused;
    const index = intent[intent.author];
    const who = `${intent.author} ${index}`;
    const known = intent.author === "seat" ? keys.get(index) : [this.open[`${intent.author}_keys`][index]];
    let candidates = known?.filter(Boolean) ?? [];
    if (intent.join) {
      if (intent.author !== "seat" || !this.open.seats[index]) return ["AUTHOR", `no ${who} to join`];
      candidates = [intent.join.key];
      if (!isKey(intent.join.key)) return ["KEY", `${who} joins with a weak key`];
    }
    if (!candidates.length) return ["AUTHOR", `${who} has no key`];
    const key = await withId(candidates, keyId);
    if (!key) return ["AUTHOR_SIGNATURE", `${who}: the key id of another key`];
    if (!(await verifies(key, signedBytes(body), signature))) return ["AUTHOR_SIGNATURE", `the signature of ${who} is wrong`];
    return null;
  }

  /** What an act makes of the keys of seats (TBL-40). */
  async noteKeys(n, { intent, signed, refused }, keys, used) {
    const { author, seat } = intent;
    /** From this entry on these keys of a seat count, and no others. */
    const count = (whose, those) => {
      keys.set(whose, those);
      for (const each of used.get(whose)) if (!those.some((key) => equal(key, each.key))) each.until ??= n - 1;
    };
    if (intent.join) {
      if (used.has(seat)) return;
      keys.set(seat, [intent.join.key]);
      used.set(seat, [{ n, key: intent.join.key }]);
      return;
    }
    if (author === "seat") {
      const newest = keys.get(seat).at(-1);
      if (await withId([newest], (signed ?? refused).key_id)) {
        count(seat, [newest]);
        if (!equal(used.get(seat).at(-1).key, newest)) used.get(seat).push({ n, key: newest });
      }
    }
    if (!intent.change_key || author === "scribe" || !(this.open.terms?.table_rules > 1)) return;
    const whose = author === "seat" ? seat : intent.change_key.seat;
    if (!used.has(whose)) return;
    if (!isKey(intent.change_key.key)) this.failAt(n, "KEY", `a weak key for seat ${whose}`);
    else count(whose, [...(author === "seat" ? keys.get(seat).slice(0, 1) : []), intent.change_key.key]);
  }

  async deck() {
    if (!this.open.dealt) return;
    const commitments = new Map();
    for (const [n, entry] of this.entries.entries()) {
      if (!entry) continue;
      const { signed, intent, disclose } = entry;
      if (signed && intent.join && !commitments.has(intent.seat)) commitments.set(intent.seat, intent.join.commitment);
      const seed = signed && intent.reveal?.seed;
      const committed = commitments.get(intent?.seat);
      if (seed && committed && !equal(committed, await seatCommitment(this.gameId, intent.seat, seed))) {
        this.failAt(n, "DECK", `the seed of seat ${intent.seat} is not the one it committed to`);
      }
      if (disclose && !equal(this.open.dealt.commitment, await refereeCommitment(disclose.seed))) {
        this.failAt(n, "DECK", "the referee's seed is not the one it committed to");
      }
    }
  }

  /** What of the rules layer needs no rules: whether they, and every act and ending, are known. */
  acts() {
    const { rules_id: id, rules_version: version } = this.open;
    if (!this.game) this.failAt(0, "UNSUPPORTED", `rules ${id}, version ${version}: moves are not read`);
    const table = this.open.terms?.table_rules ?? 0;
    const offered = (what) => table >= (what === "change_key" ? 2 : Number(OF_THE_TABLE.has(what)));
    const n = this.entries.findIndex((entry) => entry && !(offered(entry.event) && offered(entry.intent?.act)));
    if (n >= 0) this.failAt(n, "UNSUPPORTED", "an act or an event that is not offered in this game");
  }

  /** Texts beside the entries: each once, after its entry, and what that commits to. */
  async words() {
    const told = new Set();
    for (const { type, payload, offset, entries } of this.file.frames) {
      if (type !== WORDS) continue;
      let seq = null;
      try {
        const remark = decode(Remark, payload);
        seq = remark.seq < MAX_ENTRIES ? Number(remark.seq) : null;
        const length = [...remark.text].length;
        if (remark.salt.length !== SALT_BYTES) throw new Refusal("MALFORMED", `a text with a salt of ${remark.salt.length} bytes`);
        if (length < 1 || length > MAX_CHARACTERS) throw new Refusal("MALFORMED", `a text of ${length} characters`);
        if (HIDDEN.test(remark.text)) throw new Refusal("MALFORMED", "a text with characters that cannot be seen");
        const { signed, intent } = (seq !== null && seq < entries && this.entries[seq]) || {};
        const expected = signed ? (intent.rule ?? intent.protest ?? intent.appeal)?.remark : null;
        if (!expected?.length || told.has(seq)) throw new Refusal("REMARK", "a text for no entry that awaits one");
        if (!equal(expected, await sha256(WORDS_DOMAIN, remark.salt, utf8(remark.text)))) {
          throw new Refusal("REMARK", "a text that its entry does not commit to");
        }
        told.add(seq);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return this.fail(error.code, error.message, seq, offset, "certificates");
      }
    }
  }

  // --- the report ------------------------------------------------------------------------------------

  report() {
    const failures = LAYERS.flatMap((layer) => this.failures.get(layer) ?? []);
    const { verdict, ...first } = failures.length
      ? { verdict: CODES[failures[0].code][1], ...failures[0] }
      : { layer: null, entry: null, offset: null, ...this.shown() };
    const { covered, remarks } = this;
    const rules = this.open && `${this.open.rules_id} ${this.open.rules_version}`;
    const gameId = this.gameId && hex(this.gameId);
    return { verdict, exit: VERDICTS[verdict], ...first, failures, remarks, entries: this.frames.length, covered, gameId, rules };
  }

  /** The verdict if nothing fails. */
  shown() {
    const events = new Set(this.entries.map((entry) => entry.event));
    const { closed, stop } = this.file;
    if (closed && events.has("end") && this.open.dealt && !events.has("disclose")) {
      return { verdict: "UNDISCLOSED", code: "UNDISCLOSED", message: "r is not there" };
    }
    if (stop) return { verdict: "PREFIX", code: "TORN", message: stop.message };
    if (!closed) return { verdict: "PREFIX", code: "INCOMPLETE", message: "END is not there" };
    if (!events.has("end")) return { verdict: "PREFIX", code: "INCOMPLETE", message: "the game has not ended" };
    return { verdict: "COMPLETE", code: null, message: "nothing is wrong below the rules of the game" };
  }
}

/** The key that has this id, or undefined. */
async function withId(keys, id) {
  for (const key of keys) if (equal(id, (await sha256(key)).subarray(0, 8))) return key;
  return undefined;
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
  if (clock) {
    need(clock.control, "a clock without a control");
    const [base, increment, delay] = control(clock);
    need(base >= 1 && base <= MONTH_MS && increment <= MONTH_MS && delay <= 86_400_000 && clock.lag_ms <= 10_000, "a clock");
  }
  need(strikes <= 32 && penalty <= MONTH_MS && absence <= MONTH_MS && protest <= MONTH_MS, "too much");
  need(terms.illegal_moves || !(strikes || penalty), "attempts are not recorded");
  need(!penalty || clock, "a penalty without a clock");
  need(!terms.take_backs || !clock || seats.length > 1, "one seat takes back with a clock");
  need(!protest || arbiters.length, "no arbiter rules on protests");
}

/** The names of the files of a FileDescriptorSet, or null if it is none. */
function describedFiles(descriptors) {
  try {
    return Array.from(records(descriptors, 1), (file) => text(Array.from(records(file, 1)).at(-1) ?? new Uint8Array()));
  } catch (error) {
    if (error instanceof Refusal || error instanceof TypeError) return null;
    throw error;
  }
}

/** A checkpoint that the key signed. Throws a Refusal. */
async function openCheckpoint(bytes, key) {
  const checkpoint = parseCheckpoint(bytes);
  await checkSigned(checkpoint, key);
  return checkpoint;
}

/**
 * The report on a log's bytes. `pins`: key (of verifierKey), seatKeys and scribeKeys (32 bytes by number), receipts (bytes of
 * checkpoints). Throws a Refusal for a receipt that the key did not sign, and for nothing that the log's bytes hold.
 */
export const audit = (file, pins = {}) => new Audit(pins).run(file);
