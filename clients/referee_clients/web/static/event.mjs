// The page of one event, live: everything on it follows from the acts that were signed.

import { h } from "./dom.mjs";
import { check } from "./event/check.mjs";
import { names } from "./event/names.mjs";
import { resultEntry } from "./event/result.mjs";
import { byName, byTable, crossSheet, standingsSheet } from "./event/tables.mjs";
import { EventView } from "./event/view.mjs";
import { actWords, dueWords, pointsWords, signerWords } from "./event/words.mjs";
import { pinKey, showTrouble } from "./game.mjs";
import { Refused, follow } from "./gateway.mjs";
import { TIE_BREAKS } from "./verify/event_terms.mjs";
import { w } from "./words.mjs";

const app = document.getElementById("app");
const state = document.getElementById("state");
const view = new EventView(decodeURIComponent(location.pathname.split("/").at(-1)));
const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });

let stopped = false;
let isCut = false;
let stream = null;
let entry = null;
let people = null;

const called = (number) => people.called(number);

// --- what the page is made of ------------------------------------------------------------------------------------

const stands = h("p", { class: "stands", role: "status" });
const rounds = h("nav", { "aria-label": w("event.rounds"), class: "rounds" });
const round = h("section", { "aria-live": "off" });
const standings = h("section", {});
const cross = h("div", {});
const acts = h("ol", { class: "acts" });
const facts = h("dl", { class: "facts" });

const folded = (key, ...children) => h("details", {}, h("summary", {}, w(key)), ...children);

/** Parts that are long, by what draws them: only when they are seen. */
const seen = new Map();
const onDemand = (key, draw, ...children) => {
  const part = folded(key, ...children);
  seen.set(part, draw);
  part.addEventListener("toggle", () => part.open && draw());
  return part;
};

const title = () => w("event.title", { game: w(`game.${view.state.terms.game}`), id: view.id.slice(0, 8) });

const build = async () => {
  document.getElementById("title").textContent = title();
  document.title = `${title()} – ${w("site")}`;
  people = names(() => view.state, draw);
  entry = await resultEntry(view, called);
  const { id } = view;
  app.replaceChildren(
    stands,
    rounds,
    round,
    standings,
    onDemand("event.cross", drawCross, h("p", { class: "source" }, w("event.cross.about")), cross),
    entry.element,
    people.element,
    folded("event.terms", facts, h("p", {}, h("a", { href: "/rules/event" }, w("event.rules")))),
    onDemand("event.acts", drawActs, acts),
    h(
      "section",
      {},
      h("h2", {}, w("watch.record")),
      check(id),
      h("p", {}, h("a", { href: `/api/v1/games/${id}/log`, download: `${id}.eventlog` }, w("event.save")), " ", h("a", { href: "/verify" }, w("watch.verify")), " ", h("a", { href: "/about" }, w("watch.about"))),
    ),
  );
};

// --- what is shown -----------------------------------------------------------------------------------------------

/** The round that is looked at: the newest, or the one in the link. */
const shown = () => {
  const [, n] = /^#round=(\d{1,2})$/.exec(location.hash) ?? [];
  return view.state.roundOf(Number(n)) ?? view.state.newest;
};

const drawRound = () => {
  const now = shown();
  const links = view.state.rounds.map(({ number }) => h("li", {}, h("a", { href: `#round=${number}`, "aria-current": number === now.number ? "true" : null }, w("event.round", { n: number }))));
  const focused = rounds.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  rounds.replaceChildren(h("ul", {}, links));
  if (focused) rounds.querySelector(`[href="${focused}"]`)?.focus();
  if (!now) return round.replaceChildren(h("h2", {}, w("event.no_rounds")), h("p", {}, w("event.entrants", { n: view.state.entrants.size })));
  const isOpen = round.querySelector("details")?.open;
  const named = folded("event.by_name", byName(now, called));
  named.open = Boolean(isOpen);
  const notYet = now.isPublished ? [] : [h("p", { class: "problem" }, w("event.not_published"))];
  return round.replaceChildren(h("h2", {}, w("event.round", { n: now.number })), ...notYet, ...byTable(view.state, now, called), named);
};

const drawStandings = () => {
  const now = shown();
  if (!now) return standings.replaceChildren(h("h2", {}, w("event.standings")), h("p", {}, w("event.standings.none")));
  const heading = now === view.state.newest ? w("event.standings") : w("event.standings.after", { n: now.number });
  const isKnockOut = now === view.state.newest && view.state.knockOut.length > 0;
  const about = [isKnockOut && w("event.standings.knock_out"), w("event.standings.about")].filter(Boolean).join(" ");
  return standings.replaceChildren(h("h2", {}, heading), h("p", { class: "source" }, about), standingsSheet(view.state, now, called));
};

const drawCross = () => cross.replaceChildren(view.state.rounds.length ? crossSheet(view.state, called) : "");

const drawTerms = () => {
  const { terms, entrants } = view.state;
  const points = terms.sizes.map((size, at) => w("event.terms.points_of", { size, points: terms.points[at].places.join(", ") })).join("; ");
  const breaks = terms.tie_breaks.map((number) => w(`event.decides.${TIE_BREAKS[number].replace("-", "_")}`)).join(", ");
  const pairs = [
    ["event.terms.entrants", entrants.size],
    ["event.terms.sizes", terms.sizes.join(", ")],
    ["event.terms.rounds", terms.rounds],
    ["event.terms.points", points],
    ["event.terms.bye", pointsWords(terms.bye_points)],
    ["event.terms.tie_breaks", breaks || "–"],
    ...(terms.cut ? [["event.terms.cut", w("event.terms.cut_of", { n: terms.cut, size: terms.cut_size, advance: terms.cut_advance })]] : []),
  ];
  facts.replaceChildren(...pairs.flatMap(([key, value]) => [h("dt", {}, w(key)), h("dd", {}, value)]));
};

const drawActs = () => {
  const line = ({ n, at, by, move }) => {
    const signed = by ? ` ${w("event.act.signed", { who: signerWords(by) })}` : "";
    return h("li", {}, h("span", { class: "source" }, w("event.act.when", { n, when: when.format(new Date(at)) })), " ", actWords(move, view.state, called), signed);
  };
  acts.replaceChildren(...view.acts.map(line).reverse());
};

const draw = () => {
  const due = dueWords(view.state);
  if (stands.textContent !== due) stands.textContent = due;
  drawRound();
  drawStandings();
  for (const [part, draw] of seen) if (part.open) draw();
  drawTerms();
  entry.draw();
  drawState();
};

const drawState = () => {
  if (stopped) return;
  const words = w(view.isOver ? "event.over" : isCut ? "watch.broken" : "watch.is_live");
  if (state.textContent !== words) state.textContent = words;
  state.className = isCut ? "problem" : "";
};

/** Shows nothing more. What was drawn until now holds. */
const failed = (error) => {
  if (stopped) return;
  stopped = true;
  stream?.stop();
  const isUnknown = error instanceof Refused && (error.reason === "UNKNOWN_GAME" || error.status === 400);
  if (isUnknown) document.getElementById("stopped").append(h("p", {}, w("event.unknown_why")));
  state.textContent = isUnknown ? w("event.unknown") : showTrouble(error, { id: view.id ?? "", isOpen: view.isOpen });
  state.className = "problem";
};

const start = async () => {
  pinKey();
  await view.arrive(() => (state.textContent = w("watch.broken")));
  await build();
  draw();
  if (slip()) entry.choose(...slip());
  stream = follow(() => (stopped || view.isOver ? [] : [[view.id, view.last]]), {
    open: () => {
      isCut = false;
      drawState();
    },
    commit: async (data) => {
      await view.take(data);
      draw();
    },
    clock: () => {},
    cut: () => {
      isCut = true;
      drawState();
    },
    // It may not go on from what was seen: then that is a lie, and is shown by opening it anew.
    refused: () => view.open(),
    failed,
  });
  stream.start();
};

/** The table in the link, where it leads from a slip: its round and number, or null. */
const slip = () => {
  const asked = new URLSearchParams(location.search);
  const [n, table] = [asked.get("round"), asked.get("table")].map(Number);
  return Number.isInteger(n) && Number.isInteger(table) && n && table ? [n, table] : null;
};

addEventListener("hashchange", () => {
  if (!view.isOpen) return;
  drawRound();
  drawStandings();
});
start().catch(failed);
