// The audit of any log, of which an event's has its rules checked, too.

import { Audit, VERDICTS } from "./audit.mjs";
import { readTables } from "./entries.mjs";
import { EventFollowed, isEvent } from "./event.mjs";
import { EVENT_MESSAGES } from "./event_schema.mjs";

const EXITS = { ...VERDICTS, PAIRING: 11, STANDINGS: 12 };
/** Verdicts of what an event can be at fault in, by their codes; of all other codes RULES. */
const OF_CODES = { PAIRING: "PAIRING", STANDINGS: "STANDINGS", UNSUPPORTED: "UNSUPPORTED" };
/** A file with one of these says nothing for sure. That its key is not known hides no rule that is broken. */
const DAMAGED = new Set(["CORRUPT", "FORK", "STALE"]);

export class EventAudit extends Audit {
  /** The event, as far as it could be followed; null for what is none. */
  followed = null;
  #broken = null;

  decodeOpen(entry) {
    super.decodeOpen(entry);
    if (!isEvent(this.open)) return;
    this.game = EVENT_MESSAGES;
    readTables(this.open, this.game);
    this.followed = new EventFollowed(this.open);
  }

  /** Follows the event up to the first entry that breaks a rule, or that could not be read. */
  async acts() {
    await super.acts();
    for (const [n, entry] of this.followed ? this.entries.entries() : []) {
      const fault = entry && (await this.followed.take(entry));
      if (fault) this.#broken = { layer: "rules", entry: n, offset: this.frames[n].offset, ...fault };
      if (fault || !entry) return;
    }
  }

  /** As of any log, with `isFollowed`: whether its rules were looked at; `broken` has the ids of those that an act breaks. */
  report() {
    const report = { ...super.report(), isFollowed: this.followed !== null };
    if (!this.followed) return report;
    if (this.#broken) {
      const failures = [...report.failures, this.#broken];
      const verdict = OF_CODES[this.#broken.code] ?? "RULES";
      return DAMAGED.has(report.verdict) ? { ...report, failures } : { ...report, ...this.#broken, verdict, exit: EXITS[verdict], failures };
    }
    const message = report.verdict === "COMPLETE" ? "nothing is wrong with what was checked" : report.message;
    return { ...report, message, remarks: [...report.remarks, ...this.followed.remarks] };
  }
}

/** As `audit` of audit.mjs. */
export const auditAny = (file, pins = {}) => new EventAudit(pins).run(file);
