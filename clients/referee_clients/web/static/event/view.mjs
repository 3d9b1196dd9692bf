// An event that is watched: its log, checked by a feed that follows the rules, and what follows from it.

import { Feed } from "../feed.mjs";
import { Refused, bytes, json, pause } from "../gateway.mjs";
import { fromBase64 } from "../verify/bytes.mjs";
import { EventAudit } from "../verify/event_audit.mjs";
import { EVENT_MESSAGES } from "../verify/event_schema.mjs";
import { decodeBody } from "../verify/wire.mjs";

/** The verifier key that the gateway names. */
export const KEY = document.querySelector("meta[name=verifier-key]").content;
const LOG_ID = /^[0-9a-f]{32}$/;

export class EventView {
  #feed = null;

  /** `name`: of the log, or the number by which the event's games name it. */
  constructor(name) {
    this.name = name;
    this.id = LOG_ID.test(name) ? name : null;
  }

  /** Reads the event as far as it is; after a break it has to go on from what is known. Throws Lie and Refused. */
  async open() {
    this.id ??= (await json(`/events/${encodeURIComponent(this.name)}`)).id;
    const feed = this.#feed ?? new Feed({ verifierKey: KEY, gameId: this.id, audits: EventAudit });
    await feed.open(await bytes(`/games/${this.id}/log`));
    if (!feed.followed) throw new Refused(404, { reason: "UNKNOWN_GAME" });
    this.#feed = feed;
  }

  /** Opens it; waits as long as the gateway or the network is away. `waiting`: called when it is. */
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

  /** Takes a commit of the stream. Throws Lie. */
  async take({ seq, entries, checkpoint }) {
    if (seq > this.last) await this.#feed.commit({ entries: entries.map(fromBase64), checkpoint: fromBase64(checkpoint), positions: [] });
  }

  get isOpen() {
    return this.#feed !== null;
  }

  /** The number of the last entry that holds, -1 before the first. */
  get last() {
    return (this.#feed?.head?.size ?? 0) - 1;
  }

  /** The last head, `{gameId, size, leaf, checkpoint}`. */
  get head() {
    return this.#feed.head;
  }

  /** GameOpen, decoded. */
  get opened() {
    return this.#feed.gameOpen;
  }

  /** The event as it is, an EventState. It must not be changed. */
  get state() {
    return this.#feed.followed.state;
  }

  get isOver() {
    return this.#feed.entries.some(({ event }) => event === "end");
  }

  /** Every act, `{n, at, by, move}`: its entry, when, the scribe who signed it, and what, decoded. */
  get acts() {
    const acts = this.#feed.entries.filter(({ event, intent }) => event === "signed" && intent.move);
    return acts.map(({ seq, referee_ms: at, intent }) => ({ n: seq, at: Number(at), by: intent.scribe, move: decodeBody(EVENT_MESSAGES.move, intent.move) }));
  }
}
