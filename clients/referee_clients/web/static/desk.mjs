// The desk of organisers and arbiters: open games, calls and disputes, rulings, new games.

import { keep, kept } from "./token.mjs"; // first: it takes the token out of the address
import { browserKey } from "./desk/key.mjs";
import { docket } from "./desk/docket.mjs";
import { button, number, numberOf } from "./desk/form.mjs";
import { isOf, isWanted, line, openGames } from "./desk/list.mjs";
import { opening } from "./desk/opening.mjs";
import { ruling } from "./desk/ruling.mjs";
import { h } from "./dom.mjs";
import { pinKey, showTrouble } from "./game.mjs";
import { Refused, file, json } from "./gateway.mjs";
import { post } from "./sending.mjs";
import { w } from "./words.mjs";

const AGAIN_MS = 5000;
const app = document.getElementById("app");
const state = document.getElementById("state");
const list = h("div", {});
const detail = h("section", { class: "detail", "aria-label": w("desk.game"), hidden: true });

let games = new Map();
let now = null;
/** What is shown of the chosen game, so that a form is not taken away while somebody fills it in. */
let shown = { id: "", signs: "" };
let own = { key: () => null };

const tell = (words, isProblem = false) => {
  if (state.textContent !== words) state.textContent = words;
  state.className = isProblem ? "problem" : "";
};
const problemOf = (error) => w("desk.failed", { message: error.message || w("home.away") });

// --- the list ----------------------------------------------------------------------------------------------------

const occasion = { event: number("opening.event"), round: number("opening.round"), table: number("opening.table") };
const filter = () => Object.fromEntries(Object.entries(occasion).map(([name, field]) => [name, numberOf(field)]));
const chosen = () => /^#([0-9a-f]{32})$/.exec(location.hash)?.[1] ?? "";

const drawList = () => {
  const wanted = filter();
  const found = [...games.values()].filter((game) => isOf(game, wanted));
  found.sort((one, other) => isWanted(other) - isWanted(one) || one.opened_ms - other.opened_ms);
  const focused = document.activeElement?.getAttribute("href");
  list.replaceChildren(
    found.length ? h("ul", { class: "choices" }, found.map((game) => line(game, now, chosen()))) : h("p", {}, w(games.size ? "desk.none_of" : "desk.none")),
  );
  if (focused) list.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
  const calling = found.filter(isWanted).length;
  tell(w(calling ? "desk.calling" : "desk.quiet", { n: found.length, calling }));
};

// --- the chosen game ---------------------------------------------------------------------------------------------

const about = h("div", {});
const beside = h("div", {});
const said = h("p", { role: "status" });

const answer = (id) => async (called) => {
  try {
    const { answered } = await post(`/games/${id}/answer`, { number: called }, kept());
    said.textContent = w(answered ? "docket.answered" : "docket.answered_before");
  } catch (error) {
    said.textContent = problemOf(error);
  }
  await again();
};

const formFor = (game, arbiters, found) => {
  if (!found.table_rules || !arbiters) return h("p", {}, w("ruling.none"));
  const entered = (seq) => {
    said.textContent = w("ruling.entered", { n: seq });
    shown.id = ""; // the form begins anew
    return again();
  };
  const lied = (error) => tell(showTrouble(error, { id: game.id, isOpen: false }), true);
  return ruling({ id: game.id, seats: game.seats.length, arbiters }, found, { browserKey: own.key, entered, lied });
};

const drawChosen = async () => {
  const game = games.get(chosen());
  detail.hidden = !game;
  if (!game) return (shown = { id: "", signs: "" });
  const signs = [game.size, game.status?.calls.map(({ number: n }) => n), Boolean(game.status)].join();
  if (shown.id === game.id && shown.signs === signs) return undefined;
  const [found, { arbiter_keys: keys }] = await Promise.all([json(`/games/${game.id}/docket`), json(`/games/${game.id}`)]);
  if (chosen() !== game.id) return undefined;
  about.replaceChildren(
    h("h2", {}, w("watch.title", { game: w(`game.${game.rules_id}`), id: game.id.slice(0, 8) })),
    h("p", {}, h("a", { href: `/g/${game.id}` }, w("desk.watch"))),
    ...docket(found, kept() ? answer(game.id) : null),
  );
  if (shown.id !== game.id) {
    if (shown.id) said.textContent = "";
    beside.replaceChildren(h("h3", {}, w("ruling.title")), formFor(game, keys.length, found));
  }
  shown = { id: game.id, signs };
  return undefined;
};

// --- everything --------------------------------------------------------------------------------------------------

let reading = null;

const read = async () => {
  try {
    ({ games, now } = await openGames(window.isSecureContext ? kept() : ""));
    drawList();
    await drawChosen();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    tell(problemOf(error), true);
  }
};
const again = () => (reading ??= read().finally(() => (reading = null)));

const access = () => {
  const token = h("input", { type: "password", autocomplete: "off", spellcheck: "false", value: kept() });
  const use = () => {
    keep(token.value.trim());
    shown.id = "";
    return again();
  };
  const forget = () => {
    token.value = "";
    return use();
  };
  token.addEventListener("change", use);
  return h(
    "details",
    { class: "verdict", open: !kept() },
    h("summary", {}, w("desk.access")),
    h("p", {}, w("desk.token.about")),
    h("label", { class: "above" }, w("desk.token"), token),
    h("div", { class: "buttons" }, button("desk.token.use", use), button("desk.token.forget", forget)),
    h("h2", {}, w("desk.key")),
    own.element,
  );
};

const begin = async () => {
  pinKey();
  own = await browserKey(() => (shown.id = ""));
  const fields = Object.values(occasion);
  for (const { input } of fields) input.addEventListener("input", drawList);
  detail.append(about, said, beside);
  app.replaceChildren(
    access(),
    h("section", {}, h("h2", {}, w("desk.games")), h("div", { class: "filter" }, fields.map(({ element }) => element)), list),
    detail,
    h("details", { class: "verdict" }, h("summary", {}, w("opening.title")), opening(await file(`openings.json`), { browserKey: own.key, opened: again })),
  );
  await again();
  window.addEventListener("hashchange", () => (drawList(), drawChosen()));
  setInterval(() => document.hidden || again(), AGAIN_MS);
};

begin().catch((error) => tell(showTrouble(error, { id: "", isOpen: false }), true));
