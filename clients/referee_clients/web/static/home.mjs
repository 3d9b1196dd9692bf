// Events and games of the referee as it lists them: those that go on, and those that are over. What a list says is not signed.

import { h } from "./dom.mjs";
import { Refused, json } from "./gateway.mjs";
import { resultWords, whereWords } from "./standing.mjs";
import { w } from "./words.mjs";

const AGAIN_MS = 15_000;
const place = document.getElementById("games");
const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });

/** By id, the newest first. */
let games = new Map();
let events = [];
let next = "";
let pages = 1;
const problem = h("p", { class: "problem", role: "alert" });

const seatsOf = ({ seats, awaited_seats: awaited, state }) =>
  state === "PLAYING" && awaited.length ? w("home.turn", { players: awaited, n: seats.length }) : w("home.seats", { n: seats.length });

const outcomeOf = ({ result, forfeited }) => {
  const out = new Map(forfeited.map(({ seat, ending }) => [seat, ending.toLowerCase()]));
  const [who, ...why] = resultWords({ ending: result.ending.toLowerCase(), places: result.places }, out);
  const order = result.places.map((_, seat) => seat).sort((one, other) => result.places[one] - result.places[other]);
  const scores = result.scores.length ? order.map((seat) => w("home.points", { player: seat, points: result.scores[seat] })).join(", ") : "";
  return [scores ? w("home.result", { outcome: who, scores }) : who, ...(result.ending === "RULES" ? [] : why)].join(" ");
};

const line = (game) => {
  const { id, rules_id: rules, state, result, opened_ms: opened, ended_ms: ended } = game;
  const stands = result ? outcomeOf(game) : w(`home.state.${state.toLowerCase()}`);
  return h(
    "li",
    {},
    h(
      "a",
      { href: `/g/${id}` },
      h("strong", {}, rules ? w("watch.title", { game: w(`game.${rules}`), id: id.slice(0, 8) }) : w("wall.game", { id: id.slice(0, 8) })),
      h("span", {}, [stands, seatsOf(game)].join(" ")),
      h("span", { class: "source" }, [when.format(new Date(ended || opened)), whereWords(game)].filter(Boolean).join(", ")),
    ),
  );
};

const eventLine = ({ id, game, rounds, sizes, state, opened_ms: opened }) =>
  h(
    "li",
    {},
    h(
      "a",
      { href: `/event/${id}` },
      h("strong", {}, game ? w("event.title", { game: w(`game.${game}`), id: id.slice(0, 8) }) : w("home.event.unnamed", { id: id.slice(0, 8) })),
      h("span", {}, [w(state === "OVER" ? "home.event.over" : "home.event.running"), rounds ? w("home.event", { rounds, sizes: sizes.join(", ") }) : ""].join(" ")),
      h("span", { class: "source" }, when.format(new Date(opened))),
    ),
  );

const section = (heading, found, empty) => [
  h("h2", {}, heading),
  found.length ? h("ul", { class: "choices games" }, found.map(line)) : h("p", {}, empty),
];

const draw = () => {
  const all = [...games.values()].sort((one, other) => other.opened_ms - one.opened_ms);
  const isOver = ({ state }) => state === "OVER";
  const focused = document.activeElement?.getAttribute("href");
  const parts = [
    ...(events.length ? [h("h2", {}, w("home.events")), h("ul", { class: "choices games" }, events.map(eventLine))] : []),
    ...section(w("home.running"), all.filter((game) => !isOver(game)), w(all.length ? "home.none_running" : "home.no_games")),
    ...(all.length ? section(w("home.finished"), all.filter(isOver), w("home.none_finished")) : []),
    ...(next ? [h("button", { type: "button", onclick: more }, w("home.more"))] : []),
  ];
  place.replaceChildren(...parts);
  if (focused) place.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
};

/** Reads as much of the list as is shown, and what is played now however old it is. */
const load = async () => {
  const found = new Map();
  const add = (page) => page.games.forEach((game) => found.set(game.id, game));
  add(await json("/games?state=playing"));
  let page = { next_page: "" };
  for (let n = 0; n < pages && (n === 0 || page.next_page); n++) {
    page = await json(`/games?page=${encodeURIComponent(page.next_page)}`);
    add(page);
  }
  games = found;
  next = page.next_page;
};

/** Games are shown also where events cannot be: a referee of an earlier version has none. */
const loadEvents = async () => {
  try {
    ({ events } = await json("/events"));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
};

const again = async () => {
  try {
    await Promise.all([load(), loadEvents()]);
    problem.remove();
    draw();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    problem.textContent = w("home.failed", { message: error.message || w("home.away") });
    place.before(problem);
  }
};

const more = () => {
  pages++;
  return again();
};

again();
setInterval(() => document.hidden || again(), AGAIN_MS);
document.addEventListener("visibilitychange", () => document.hidden || again());
