// A game that is watched: what the gateway delivers of it, checked by a feed, and what can be shown of it.

import { h, hold, saveFile } from "./dom.mjs";
import { entryWords } from "./entry_words.mjs";
import { Feed, Lie } from "./feed.mjs";
import { findingWords, inEnglish, isEnglish, paragraph } from "./finding.mjs";
import { Refused, bytes, file, pause } from "./gateway.mjs";
import { modelOf } from "./grid.mjs";
import { toldNames } from "./names.mjs";
import { leftMs, standing, whereWords } from "./standing.mjs";
import { base64, fromBase64, fromHex, u32 } from "./verify/bytes.mjs";
import { readFrames } from "./verify/frames.mjs";
import { verifierKey } from "./verify/note.mjs";
import { namesOf } from "./players.mjs";
import { GAMES } from "./verify/schema.mjs";
import { decodeBody } from "./verify/wire.mjs";
import { w } from "./words.mjs";

/** The verifier key that the gateway names. */
const KEY = document.querySelector("meta[name=verifier-key]").content;
const PINNED = "verifier-key";

/** The gateway names another key than at the last visit. */
export class OtherKey extends Error {
  constructor(pinned) {
    super(w("watch.other_key", { pinned, key: KEY }));
    this.evidence = { pinned };
  }
}

/** The page came over plain HTTP, where nothing can be checked. */
export class Insecure extends Error {}

/** Keeps the key of the first visit. Throws Insecure and OtherKey. A browser that keeps nothing has no visit before. */
export const pinKey = (anew = false) => {
  if (!globalThis.crypto?.subtle) throw new Insecure();
  let pinned = null;
  try {
    pinned = anew ? null : localStorage.getItem(PINNED);
    if (!pinned) localStorage.setItem(PINNED, KEY);
  } catch {
    return;
  }
  if (pinned && pinned !== KEY) throw new OtherKey(pinned);
};

/** The position after each of so many entries, each of which is delivered after four bytes of its length. */
const positionsOf = async (id, size) => {
  const found = [];
  while (found.length < size) {
    const data = await bytes(`/games/${id}/positions?from=${found.length}&size=${size}`);
    const before = found.length;
    for (let at = 0; at + 4 <= data.length; at += 4 + u32(data, at)) found.push(data.subarray(at + 4, at + 4 + u32(data, at)));
    if (found.length === before) break;
  }
  return found.slice(0, size);
};

const parts = new Map();

/** The components of a game; the page holds the drawings of its pieces then. Each game's are fetched once. */
const partsOf = (name) => {
  const fetched = async () => {
    const { components, drawings } = await file(`parts/${name}.json`);
    hold(drawings);
    return components;
  };
  if (!parts.has(name)) parts.set(name, fetched());
  return parts.get(name).catch((error) => {
    parts.delete(name);
    throw error;
  });
};

export class Game {
  #feed;
  #rules;
  #components;
  #game;
  #clock = null;
  /** The names of the players by seat, `{name, confirmed, source}` or null. */
  names = [];

  /** `receipts`: checkpoints that were kept of it; its history has to contain what they are of. */
  constructor(id, receipts = []) {
    this.id = id;
    this.#feed = new Feed({ verifierKey: KEY, gameId: id, receipts });
  }

  /** Reads the game as far as it is; after a break it has to go on from what is known. Throws Lie and Refused. */
  async open() {
    const names = this.#game ? null : toldNames([this.id]);
    const log = await bytes(`/games/${this.id}/log`);
    // How many there are is checked with everything else, by the feed.
    const { entries } = await readFrames(log);
    await this.#feed.open(log, await positionsOf(this.id, entries));
    if (this.#game) return;
    const { rules_id: name, rules_version: version, tables } = this.#feed.gameOpen;
    this.#rules = GAMES[name][version];
    const [module, components] = await Promise.all([import(`./games/${name}.mjs`), partsOf(name)]);
    this.#components = components;
    this.#game = module[name](decodeBody(this.#rules.tables, tables), components);
    await this.readNames(names);
  }

  /** Reads the names, which stand in no entry, against the opening. `told`: as they were asked for. */
  async readNames(told = toldNames([this.id])) {
    this.names = await namesOf(this.opened.seats, (await told).get(this.id) ?? []);
  }

  /** The names alone, for `naming`. */
  get called() {
    return this.names.map((found) => found?.name ?? "");
  }

  /** Opens the game; waits as long as the gateway or the network is away. `waiting`: called when it is. */
  async arrive(waiting) {
    for (let tries = 0; !this.isOpen; tries++) {
      try {
        await this.open();
      } catch (error) {
        if (!(error instanceof Refused && error.passes)) throw error;
        waiting();
        await pause(tries, error.waitMs);
      }
    }
  }

  /** Takes a commit of the stream of events. Throws Lie. */
  async take({ seq, entries, checkpoint, positions }) {
    if (seq <= this.last) return;
    const before = this.entries.length;
    await this.#feed.commit({ entries: entries.map(fromBase64), checkpoint: fromBase64(checkpoint), positions: positions.map(fromBase64) });
    this.#clock = null;
    // A player may have given a name on taking a seat, and an organiser names others by the end.
    if (this.entries.slice(before).some(({ event, intent }) => event === "end" || intent?.act === "join")) await this.readNames();
  }

  /** Takes the gateway's word of the clocks. It is not signed; it counts until the next entry. */
  tell(clock) {
    this.#clock = clock.seq === this.last ? { ...clock, at: performance.now() } : null;
  }

  /** Milliseconds that a seat has left, as far as is known; null if nothing is. */
  leftMs(seat) {
    const clock = this.#clock?.clocks[seat];
    return clock ? leftMs(clock, this.#clock.referee_ms, performance.now() - this.#clock.at) : null;
  }

  /** The stream broke: nobody says how the clocks go on. */
  forgetClocks() {
    this.#clock = null;
  }

  get isOpen() {
    return this.#game !== undefined;
  }

  /** The number of the last entry that holds, -1 before the first. */
  get last() {
    return (this.#feed.head?.size ?? 0) - 1;
  }

  /** The last head that holds, `{gameId, size, leaf, checkpoint}`. */
  get head() {
    return this.#feed.head;
  }

  /** The game's id, of 16 bytes. */
  get gameId() {
    return fromHex(this.id);
  }

  /** The key that the referee signs with, as `openCheckpoint` takes it. */
  verifier() {
    return verifierKey(KEY);
  }

  get entries() {
    return this.#feed.entries;
  }

  /** GameOpen, decoded. */
  get opened() {
    return this.#feed.gameOpen;
  }

  /** The messages of the game's rules: `move`, `options`, `tables`, … */
  get rules() {
    return this.#rules;
  }

  /** The pieces of the game, as components.json has them. */
  get components() {
    return this.#components;
  }

  /** The keys that can sign for a seat, the newest last. */
  keysOf(seat) {
    return this.#feed.keysOf(seat);
  }

  positionAt(n) {
    return this.#feed.positionAt(n);
  }

  get isOver() {
    return this.#feed.entries.some(({ event }) => event === "end" || event === "disclose");
  }

  get seats() {
    return this.#feed.gameOpen.seats.length;
  }

  get hasClocks() {
    return Boolean(this.#feed.gameOpen.terms?.clock);
  }

  get title() {
    return w("watch.title", { game: w(`game.${this.#feed.gameOpen.rules_id}`), id: this.id.slice(0, 8) });
  }

  /** Event, round and table, as far as the game has them. */
  get where() {
    return whereWords(this.#feed.gameOpen);
  }

  standingAt(n) {
    const position = this.#feed.positionAt(n);
    return standing(this.#feed.entries.slice(0, n + 1), this.#feed.gameOpen, position, this.#game.awaits);
  }

  wordsOf(n) {
    const { who, what } = entryWords(this.#feed.entries[n], this.#rules, this.#game);
    return who ? w("entry.by", { who, what }) : what;
  }

  /** A move in words; `move`: decoded. */
  wordsOfMove(move) {
    return this.#game.move(move);
  }

  /** A seat's board after an entry, for `grid` and `picture`; `room`: empty cells around it, where a game has no frame. */
  boardAt(n, seat, room = 1) {
    return modelOf(this.#game.board(this.#feed.positionAt(n), seat), room);
  }

  ofSeatAt(n, seat) {
    return this.#game.ofSeat(this.#feed.positionAt(n), seat);
  }

  ofTableAt(n) {
    return this.#game.ofTable(this.#feed.positionAt(n));
  }
}

/** What an error means for who watches, `[headline, ...lines]`, as `paragraph` takes them. `isOpen`: something is shown already. */
export const problemWords = (error, isOpen) => {
  if (error instanceof Insecure) return [w("watch.stopped"), w("watch.insecure")];
  if (error instanceof Lie) {
    const { reason: code, facts, entry } = error;
    const message = findingWords({ code, facts }, error.message);
    const original = isEnglish ? [] : [inEnglish(error.message)];
    if (code === "UNSUPPORTED") return [w("watch.failed"), w("watch.unsupported", { message }), ...original];
    const place = entry === null ? "" : w("watch.lie_at", { entry });
    return [w("watch.lie"), w("watch.lie_why", { code, message, place }), ...original, w(isOpen ? "watch.lie_shown" : "watch.lie_nothing")];
  }
  if (error instanceof OtherKey) return [w("watch.lie"), error.message, w("watch.other_key_what")];
  if (!(error instanceof Refused)) return [w("watch.failed"), w("watch.fault", { message: error.message })];
  return error.reason === "UNKNOWN_GAME" || error.status === 400 ? [w("watch.unknown"), w("watch.unknown_why")] : [w("watch.failed"), error.message];
};

/** What shows a lie, as the text of a file: what was delivered, and what was believed before. */
const evidenceOf = (error, id) => {
  const asText = (_, value) => (value instanceof Uint8Array ? base64(value) : value);
  const { reason, entry, message, evidence } = error;
  const about = { game: id, from: location.origin, verifier_key: KEY, saved: new Date().toISOString() };
  return JSON.stringify({ ...about, reason, entry, message, ...evidence }, asText, 1);
};

const saveEvidence = (error, id) => saveFile(`${id}-evidence.json`, evidenceOf(error, id), "application/json");

const trust = () => {
  pinKey(true);
  location.reload();
};

/**
 * Shows the error of a game in the page's place for it; returns the headline. `isOpen`: something of the game is shown; `first`:
 * what is said before the rest.
 */
export const showTrouble = (error, { id, isOpen }, first = []) => {
  const [headline, ...rest] = problemWords(error, isOpen);
  const lines = [...first, ...rest];
  const button = (label, onclick) => h("button", { type: "button", onclick }, w(label));
  const buttons = [
    error.evidence && button("watch.evidence", () => saveEvidence(error, id)),
    error instanceof OtherKey && button("watch.trust", trust),
  ].filter(Boolean);
  document.getElementById("stopped").append(
    h(
      "div",
      { class: "verdict", role: "alert" },
      lines.map((line) => paragraph(line)),
      buttons.length > 0 && h("div", { class: "buttons" }, buttons),
    ),
  );
  return headline;
};
