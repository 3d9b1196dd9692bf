// An event entry by entry: every act is judged and replayed, and the event after it compared with what the entry has of it.

import { Refusal, equal } from "./bytes.mjs";
import { brokenBy } from "./event_rules.mjs";
import { EVENT_MESSAGES } from "./event_schema.mjs";
import { EventState, PHASES } from "./event_state.mjs";
import { termsFault } from "./event_terms.mjs";
import { decodeBody } from "./wire.mjs";

const UNCHECKED = "not checked here: that no exchange of two players makes a round better (EVT-P8), and the logs of games";
const LAST_ENTRY = 65_534;
const ENDINGS_OF_EVENT = { rules: 1, stalled: 2, aborted: 8, referee_fault: 10 };
/** Events of the log that change nothing in the event. */
const SILENT = new Set(["recovered", "interrupted", "refused"]);
const PAIRING_RULES = /^EVT-[POBK]/;
const STANDINGS_RULES = /^EVT-S/;

/** What kind of failure these rules make; what is wrong with a pairing comes first. */
const kindOf = (rules) => (rules.some((rule) => PAIRING_RULES.test(rule)) ? "PAIRING" : rules.some((rule) => STANDINGS_RULES.test(rule)) ? "STANDINGS" : "RULES");

/** Whether a log is that of an event, as it is known here. */
export const isEvent = ({ rules_id: id, rules_version: version }) => id === "event" && version === 1;

/** An event that is followed from GameOpen on. Throws a Refusal for terms that cannot be. */
export class EventFollowed {
  #digest = null;
  #isEnded = false;
  /** Acts by scribe: 0 is the organiser, others are arbiters. */
  #signed;

  constructor(open) {
    const terms = decodeBody(EVENT_MESSAGES.tables, open.tables);
    const fault = termsFault(terms);
    if (fault) throw new Refusal("MALFORMED", `tables: ${fault}`);
    this.open = open;
    this.state = new EventState(terms);
    this.#signed = open.scribe_keys.map(() => 0);
  }

  /** An independent one. */
  copy() {
    const copy = new EventFollowed(this.open);
    copy.state = this.state.copy();
    copy.#digest = this.#digest;
    copy.#isEnded = this.#isEnded;
    copy.#signed = [...this.#signed];
    return copy;
  }

  /** Takes an entry whose place and author were checked. What is wrong with it: `{code, message, broken, facts}`, or null. */
  async take(entry) {
    const fault = await this.#happen(entry);
    if (fault) return fault;
    this.#digest ??= await this.state.digest();
    return equal(this.#digest, entry.state_digest) ? null : { code: "DIGEST", message: "the event after it is another than the entry has" };
  }

  async #happen({ seq, event, intent, end }) {
    const notAwaited = { code: "NOT_AWAITED", message: "nothing of the kind is awaited in an event" };
    if (seq === 0) return this.open.seats.length === 1 ? null : { code: "RULES", message: "an event has one seat, the desk" };
    if (SILENT.has(event)) return null;
    if (this.#isEnded) return { code: "NOT_AWAITED", message: "nothing follows the end" };
    if (event === "end") return this.#ended(seq, end);
    if (event !== "signed") return notAwaited;
    if (["rule", "protest", "appeal", "correct", "take_back", "consent", "resign", "change_key"].includes(intent.act)) {
      return { code: "UNSUPPORTED", message: "acts of the table are not followed in an event" };
    }
    if (intent.act !== "move" || intent.author !== "scribe") return notAwaited;
    const move = decodeBody(EVENT_MESSAGES.move, intent.move);
    const broken = await brokenBy(this.state, move);
    if (broken.length) {
      const rules = [...new Set(broken.map(([rule]) => rule))];
      return { code: kindOf(rules), message: broken.map(([rule, what]) => `${what} (${rule})`).join("; "), broken: rules, facts: { rules: rules.join(", ") } };
    }
    await this.state.apply(move);
    this.#signed[intent.scribe]++;
    this.#digest = null;
    return null;
  }

  #ended(seq, { ending, scores, places }) {
    this.#isEnded = true;
    const is = (...numbers) => numbers.includes(ending);
    const { rules, stalled, aborted, referee_fault: fault } = ENDINGS_OF_EVENT;
    const isOver = this.state.phase === PHASES.over;
    const isRight = isOver
      ? is(rules) && scores.length === 1 && places.length === 1 && scores[0] === 0 && places[0] === 1
      : scores.length === 0 && places.length === 0 && (is(aborted, fault) || (is(stalled) && seq === LAST_ENTRY));
    return isRight ? null : { code: "RESULT", message: "an end that the event has not come to" };
  }

  /** What was not checked, where results are from, and who signed, if there are several. */
  get remarks() {
    const results = this.state.rounds.flatMap((round) => [...round.results.values()]).filter(({ places }) => places.length);
    const bySheet = results.filter(({ log }) => !log).length;
    const signed = this.#signed.map((acts, scribe) => `${acts} by ${scribe ? `arbiter ${scribe}` : "the organiser"}`);
    const acts = signed.length > 1 ? [`acts: ${signed.join(", ")}`] : [];
    return [UNCHECKED, `${results.length} results: ${bySheet} by sheet, for which only the organiser vouches, ${results.length - bySheet} of a game's log`, ...acts];
  }
}
