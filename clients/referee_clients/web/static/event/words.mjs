// The words of an event's figures and acts, from its signed entries.

import { hex } from "../verify/bytes.mjs";
import { ORIGINS, PHASES, undecided } from "../verify/event_state.mjs";
import { PARTS } from "../verify/event_terms.mjs";
import { w } from "../words.mjs";

const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/** 60ths as people read points: 5, 2.5, 1 2/3. */
export const pointsWords = (points) => {
  const [whole, rest] = [Math.floor(points / PARTS), points % PARTS];
  if (!rest) return String(whole);
  if ((rest * 100) % PARTS === 0) return String(points / PARTS);
  const common = gcd(PARTS, rest);
  return `${whole || ""} ${rest / common}/${PARTS / common}`.trim();
};

/** A fraction with three digits. */
export const rounded = ([n, d]) => (Number(n) / Number(d)).toFixed(3);

/** Who signs as this scribe of the log. */
export const signerWords = (scribe) => (scribe ? w("entry.arbiter", { n: scribe }) : w("event.organiser"));

const ORIGIN_OF = Object.fromEntries(Object.entries(ORIGINS).map(([name, number]) => [number, name]));
export const originWords = (origin) => w(`event.origin.${ORIGIN_OF[origin]}`);

/** How far the event is and what is missing, in a sentence or two. */
export const dueWords = (event) => {
  const { phase, newest, isBetween, nextRound, terms, isCut } = event;
  if (phase === PHASES.over) return w(event.isAbandoned ? "event.due.abandoned" : "event.due.over");
  if (phase === PHASES.entering) {
    const there = [...event.entrants.values()].filter(({ isThere }) => isThere).length;
    return w("event.due.entering", { n: event.entrants.size, there });
  }
  if (phase === PHASES.opening) return w("event.due.opening");
  if (!isBetween) {
    const { number } = newest;
    if (!newest.isPublished) return w("event.due.publish", { n: number });
    const left = undecided(newest);
    return left.length ? w("event.due.results", { n: number, left: left.length, all: newest.tables.length, tables: left.join(", ") }) : w("event.due.close_round", { n: number });
  }
  const isFinal = newest?.origin === ORIGINS.knock_out && newest.tables.length === 1;
  if (nextRound > terms.rounds && terms.cut && !isCut) return w("event.due.cut", { n: terms.cut });
  return nextRound > terms.rounds && (!terms.cut || isFinal) ? w("event.due.close") : w("event.due.pair", { n: nextRound });
};

/** Two or three words on what a table came to besides its places; empty for most. */
export const tableWords = (round, table) => {
  const result = round.results.get(table);
  if (!result) return round.isPublished ? w("event.missing") : "";
  return result.places.length ? "" : w("event.void");
};

/** What a result says, seat by seat. `players`: at the table; `called(number)`: a player's name. */
export const resultWords = ({ places, scores, forfeited, log }, players, called) => {
  const seat = (who, at) => {
    const place = places[at] ? w("event.result.place", { who: called(who), place: places[at] }) : w("event.result.away", { who: called(who) });
    const score = scores.length ? w("event.result.score", { n: scores[at] }) : "";
    return [place, score, forfeited.includes(at) ? w("event.result.forfeits") : ""].filter(Boolean).join(", ");
  };
  return [...players.map(seat), ...(log ? [w("event.result.log", { id: hex(log.game_id).slice(0, 8), n: log.size })] : [])];
};

const tablesWords = (tables) => tables.map(({ players }) => players.join(" ")).join("; ");

/** An act in words. `event`: as it is now; `called(number)`: a player's name. */
export const actWords = ({ act: name, [name]: act }, event, called) => {
  const who = act.number === undefined ? "" : called(act.number);
  const { round: n, table, reason = "" } = act;
  const players = () => event.roundOf(n)?.tables[table - 1] ?? [];
  const result = () => resultWords(act.result, players(), called).join("; ");
  switch (name) {
    case "enter":
      return act.first_round ? w("event.act.enter_late", { who, n: act.first_round, points: pointsWords(act.late_points) }) : w("event.act.enter", { who });
    case "check_in":
      return w(act.commitment.length ? "event.act.check_in_share" : "event.act.check_in", { who });
    case "forbid":
      return w(act.hard ? "event.act.forbid_hard" : "event.act.forbid", { one: called(act.first), other: called(act.second) });
    case "plan":
      return w("event.act.plan", { n, tables: tablesWords(act.tables) });
    case "pair": {
      const byes = act.byes.length ? w("event.act.byes", { byes: act.byes.join(" ") }) : "";
      const why = reason ? w("event.act.why", { reason }) : "";
      return [w("event.act.pair", { n, origin: originWords(act.origin), tables: tablesWords(act.tables) }), byes, why].filter(Boolean).join(" ");
    }
    case "open_table":
      return w("event.act.open_table", { n, table, id: hex(act.game_id).slice(0, 8) });
    case "enter_result":
      return w("event.act.enter_result", { n, table, result: result() });
    case "amend":
      return w("event.act.amend", { n, table, result: result(), reason });
    case "award":
      return w("event.act.award", { n, who, points: pointsWords(act.points), reason });
    case "absent":
      return w("event.act.absent", { who, n });
    case "publish":
    case "close_round":
      return w(`event.act.${name}`, { n });
    case "void":
    case "reopen":
      return w(`event.act.${name}`, { n, table, reason });
    default:
      return w(`event.act.${name}`, { who, reason });
  }
};
