// Judging a position: it is put together here, and judged by the gateway as `referee inspect` does.
//
// The position is in the link, and nowhere else.

import "./token.mjs"; // first: it takes the token out of the link
import { ask, newest } from "./asking.mjs";
import { explained } from "./broken_rules.mjs";
import { h } from "./dom.mjs";
import { alhambra } from "./editors/alhambra.mjs";
import { kingdomino } from "./editors/kingdomino.mjs";
import { rollwrite } from "./editors/rollwrite.mjs";
import { grid } from "./grid.mjs";
import { palette } from "./palette.mjs";
import { sheetOf } from "./sheet.mjs";
import { solver } from "./solver.mjs";
import { take as takeToken } from "./token.mjs";
import { firstPlayer, w } from "./words.mjs";

const KEPT = 300;

const components = await (await fetch("/static/components.json")).json();
const GAMES = {
  alhambra: alhambra(components.alhambra),
  kingdomino: kingdomino(components.kingdomino),
  rollwrite: rollwrite(components.rollwrite),
};

const app = document.getElementById("app");
const said = document.getElementById("said");
const say = (words) => (said.textContent = words);

let name = "alhambra";
let boards = [GAMES[name].empty()];
let current = 0;
let past = [];
let future = [];
/** Answers by question: an answer does not change. */
const known = new Map();
/** Of the position that is shown: what is known of it, null while it is asked. */
let answer = null;
let again = null;

const part = (className, ...children) => h("div", { class: className }, ...children);
const button = (label, onclick, disabled = false, more = {}) => h("button", { type: "button", onclick, disabled, ...more }, label);
const held = () => boards[current];
const act = (what) => GAMES[name][what] && held().hand && change(GAMES[name][what](held()));
const tap = (x, y) => {
  const claim = isAiming && GAMES[name].claimAt?.(held(), x, y, answer);
  if (!claim) return change(GAMES[name].choose(held(), x, y, told));
  aim(false);
  solving.prove(claim);
};

const chooser = h("div", { role: "group", "aria-label": w("position.game"), class: "tabs games" });
const seats = h("div", { role: "group", "aria-label": w("position.seats"), class: "tabs seats" });
const tools = h("div", { role: "group", "aria-label": w("position.tools"), class: "tools" });
const above = part("settings dice-row");
const board = grid(w("position.board"), tap, { r: () => act("turn"), R: () => act("turn"), Escape: () => act("putAway") });
const status = part("status");
const hand = part("hand");
const palettes = Object.fromEntries(Object.entries(GAMES).map(([each, game]) => [each, game.palette && palette(game.palette)]));
const chosen = part("chosen-palette");
const settings = part("settings");
/** The solver, where there is a referee that has one. */
const solving = app.dataset.solver === undefined ? null : solver((next) => change(next));
/** The next tap says what is to be proved, and lays nothing. */
let isAiming = false;
const aim = (to) => {
  isAiming = to;
  drawSolving();
  if (to) told(w("solver.aim.how"));
};
const drawSolving = () => solving?.show(GAMES[name], held(), answer, isAiming, aim);
const sheet = h("section", { class: "verdict sheet-of-all", "aria-labelledby": "sheet-title", hidden: true });
/** On paper, the way back to the position. */
const printed = h("p", { class: "printed" });
const verdict = h("section", { class: "verdict", "aria-labelledby": "verdict-title", tabindex: "-1" });

/** Whether it is a whole game's final scoring, and not one position. */
const isScored = () => boards.length > 1 || Boolean(GAMES[name].isScored?.(boards[0]));
/** The neutral player's tiles are the last board, in games that have one. */
const players = () => boards.filter(({ neutral }) => !neutral);
const named = (at) => (boards[at].neutral ? w("position.neutral") : firstPlayer(at));

// The position

const now = () => [name, boards, current];

/** Go on from the position that is shown; null changes nothing. */
const change = (next) => {
  if (next) changeAll(name, boards.with(current, next), current);
};

/** The same with all boards: what is said of the game is said on the first one. */
const changeAll = (game, all, at) => {
  past = [...past.slice(-KEPT), now()];
  future = [];
  [name, boards, current] = [game, all, at];
  moved();
};

const undo = (from, to) => {
  if (!from.length) return;
  to.push(now());
  [name, boards, current] = from.pop();
  moved();
};

const moved = () => {
  history.replaceState(null, "", linkNow());
  app.querySelector('[role="alert"]')?.remove();
  shown();
};

const linkNow = () => `#${name};${boards.map((each) => GAMES[name].write(each)).join("|")}`;

/** The position of the link; false if there is one that cannot be read. */
const fromLink = () => {
  let text;
  try {
    text = decodeURIComponent(location.hash.slice(1));
  } catch {
    return false;
  }
  const [game, ...rest] = text.split(";");
  if (!game) return true;
  if (!Object.hasOwn(GAMES, game)) return false;
  const parts = rest.join(";").split("|");
  const found = parts.map((each) => (each ? GAMES[game].read(each) : GAMES[game].empty()));
  if (found.includes(null) || found.length > GAMES[game].seats[1]) return false;
  const neutral = found.findIndex((each) => each.neutral);
  const expected = GAMES[game].neutral === (neutral < 0 ? found.length : found.length - 1) ? found.length - 1 : -1;
  if (neutral !== expected) return false;
  if (GAMES[game].isGame?.(found) === false) return false;
  const pieces = found.flatMap(GAMES[game].pieces);
  if (new Set(pieces).size !== pieces.length) return false;
  [name, boards, current] = [game, found, 0];
  return true;
};

// The display

/** Show the position, and have it judged if nothing is known of it yet. */
const shown = () => {
  clearTimeout(again);
  answer = known.get(questionOf(held())) ?? null;
  judge(); // first: the question is on its way while the page is drawn
  draw();
  if (answer) showVerdict();
  else {
    status.replaceChildren(h("p", { class: "judged" }, w("position.judging")));
    say("");
  }
};

const draw = () => {
  const game = GAMES[name];
  const state = held();
  const tabs = (labels, at, choose) =>
    labels.map((label, n) => button(label, () => choose(n), false, { "aria-pressed": String(n === at) }));
  const names = Object.keys(GAMES);
  chooser.replaceChildren(...tabs(names.map((each) => w(`game.${each}`)), names.indexOf(name), (n) => choose(names[n])));
  drawSeats();
  keepFocus(tools, () =>
    tools.replaceChildren(
      button(w("position.undo"), () => undo(past, future), past.length === 0),
      button(w("position.redo"), () => undo(future, past), future.length === 0),
      button(w("position.clear"), () => change(game.empty(state)), game.isEmpty(state) && !state.hand, { "aria-label": w("position.clear.board") }),
      button(w("position.copy"), copy, false, { "aria-label": w("position.copy.link") }),
      ...(isScored() ? [] : [button(w("position.score"), scoreGame, false, { "aria-label": w("position.score_all") })]),
    ),
  );
  keepFocus(above, () => above.replaceChildren(...(game.above?.(state, change, isScored()) ?? [])));
  drawBoard();
  drawHand();
  if (solving) keepFocus(solving.element, drawSolving);
  const palette = palettes[name];
  if (chosen.firstChild !== palette?.element) chosen.replaceChildren(...(palette ? [palette.element] : []));
  const used = new Set(boards.flatMap((each, at) => game.pieces(each).filter((piece) => at !== current || piece !== each.hand)));
  palette?.show(used, state.hand, (id) => change(game.take(held(), id)));
  const ofGame = current > 0 ? [] : game.settings(state, change);
  const ofSeat = isScored() && !state.neutral && (!game.seatSettingsOnFirst || current === 0) ? (game.seatSettings?.(state, change) ?? []) : [];
  const ofAll = isScored() ? (game.gameSettings?.(boards, (first) => changeAll(name, boards.with(0, first), current)) ?? []) : [];
  keepFocus(settings, () => settings.replaceChildren(...ofGame, ...ofSeat, ...ofAll));
};

/** Draw again what has the focus, and give it back: to what has the same place in it. */
const keepFocus = (element, drawAgain) => {
  const stops = () => [...element.querySelectorAll("button, select, input")];
  const at = stops().indexOf(document.activeElement);
  drawAgain();
  if (at >= 0) stops()[at]?.focus();
};

const drawBoard = () => board.show(GAMES[name].model(held(), held().neutral ? null : answer, isScored()));

const drawHand = () => {
  const game = GAMES[name];
  const state = held();
  const piece = game.hand(state);
  if (!piece) return hand.replaceChildren(h("p", {}, w("hand" in state ? "position.empty_hand" : "position.sheet")));
  keepFocus(hand, () =>
    hand.replaceChildren(
      game.handPicture(state),
      h("p", {}, w(game.handKey?.(state) ?? "position.hand", { piece })),
      ...(game.turn ? [button(w("position.turn"), () => act("turn"))] : []),
      button("×", () => act("putAway"), false, { "aria-label": w("position.put_away") }),
    ),
  );
};

/** The board of the neutral player, in games that have one with so many players. */
const neutralFor = (n) => (n === GAMES[name].neutral ? [{ ...GAMES[name].empty(boards[0]), neutral: true }] : []);
const seat = (all, at) => changeAll(name, GAMES[name].seated?.(all) ?? all, at);

/** One player more; of one board it makes a whole game. */
const scoreGame = () => {
  const game = GAMES[name];
  const own = players();
  seat([...own, (game.another ?? game.empty)(own[0]), ...neutralFor(own.length + 1)], own.length);
};

/** Who has a board: a button each. */
const drawSeats = () => {
  const game = GAMES[name];
  const [least, most] = game.seats;
  const own = players();
  const count = own.length;
  const fewer = () => {
    if (count === least) changeAll(name, [game.alone?.(own[0]) ?? own[0]], 0);
    else seat([...own.slice(0, -1), ...neutralFor(count - 1)], 0);
  };
  const show = (at) => {
    current = at;
    shown();
  };
  const one = (at) => button(named(at), () => show(at), false, { "aria-pressed": String(at === current) });
  const all = [
    ...boards.map((_, at) => one(at)),
    ...(count < most ? [button(w("position.more"), scoreGame)] : []),
    button(count === least ? w("position.one_board") : w("position.fewer", { player: count - 1 }), fewer),
  ];
  keepFocus(seats, () => seats.replaceChildren(...(isScored() ? all : [])));
};

const choose = (game) => {
  if (game !== name) changeAll(game, [GAMES[game].empty()], 0);
};

const copy = async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    told(w("position.copied"));
  } catch {
    // Over plain HTTP there is no clipboard, but what is selected can be copied.
    const text = h("input", { type: "text", value: location.href, readonly: true, "aria-label": w("position.link") });
    const note = h("p", { class: "note" }, w("position.not_copied"), text);
    status.before(note);
    text.select();
    const copied = document.execCommand("copy");
    note.remove();
    told(w(copied ? "position.copied" : "position.not_copied"));
  }
};

/** Say something beside the verdict, for a moment. */
const told = (words) => {
  say(words);
  const note = h("p", { class: "note" }, words);
  app.querySelector(".note")?.remove();
  status.before(note);
  setTimeout(() => note.remove(), 6000);
};

// The verdict

const questionOf = (state) => JSON.stringify(GAMES[name].question(state));

/** The answer to a question, from memory if it was asked before. */
const answerTo = async (state, signal) => {
  const question = questionOf(state);
  const found = known.get(question) ?? (await ask("position", JSON.parse(question), { signal }));
  if (!("reason" in found)) {
    known.set(question, found);
    if (known.size > KEPT) known.delete(known.keys().next().value);
  }
  return found;
};

/** Ask what is to be said of the position; only an answer about what is shown counts. */
const judge = newest(async (signal) => {
  const place = linkNow() + current;
  const isShown = () => place === linkNow() + current;
  const found = await answerTo(held(), signal);
  if (!isShown()) return;
  if (found !== answer) {
    answer = found;
    drawBoard();
    drawSolving();
    showVerdict();
  }
  sheet.hidden = !isScored();
  if (!isScored()) return;
  const scored = await scoreAll(signal);
  if (isShown()) sheet.replaceChildren(...sheetOf(scored));
});

/** The final scoring of all boards, as `referee score` has it. */
const scoreAll = async (signal) => {
  const game = GAMES[name];
  const own = players();
  const found = await Promise.all(own.map((each) => answerTo("hand" in each ? game.putAway(each) : each, signal)));
  const problem = found.find(({ error }) => error !== undefined);
  if (problem) return problem;
  const parts = [...own.map((each, at) => game.board(each, found[at])), ...(game.others?.(boards) ?? [])];
  const { version, ...options } = game.headers(own);
  const headers = { Game: name, Version: version, Seats: own.length, ...options, Boards: parts.join(" | ") };
  return ask("score", { text: Object.entries(headers).map(([key, value]) => `[${key} "${value}"]\n`).join("") }, { signal });
};

const title = () => h("h2", { id: "verdict-title" }, w("verdict"));

const showVerdict = () => {
  const game = GAMES[name];
  const state = held();
  if (answer.error !== undefined) return showProblem();
  // The neutral player's tiles lie nowhere: there is nothing to be judged.
  const { valid, violations = [] } = state.neutral ? {} : answer;
  const [tone, sign] = valid === undefined || game.isEmpty(state) ? ["", ""] : valid ? ["good", "✓ "] : ["bad", "✗ "];
  const rules = [...new Set(violations.map(({ rule }) => rule))];
  const n = rules.length;
  const text = game.isEmpty(state)
    ? w("verdict.empty")
    : valid === undefined
      ? ""
      : valid
        ? w("verdict.legal")
        : w("verdict.illegal", { n });
  const brief = (game.isEmpty(state) && valid !== undefined) || (valid === undefined && isScored()) ? "" : game.brief(answer, state);
  const heading = () => h("p", { class: `judged ${tone}` }, h("span", { "aria-hidden": "true" }, sign), text);
  status.replaceChildren(
    ...(text ? [heading()] : []),
    ...(brief ? [h("p", { class: "brief" }, brief)] : []),
    ...(n ? [button(w("verdict.why", { rules: rules.join(", ") }), toVerdict, false, { class: "why" })] : []),
  );
  say([text, brief, rules.join(", ")].filter(Boolean).join(". "));
  const facts = game.facts(answer, state);
  printed.textContent = location.href;
  verdict.replaceChildren(
    title(),
    ...(text ? [heading()] : []),
    ...(n
      ? [h("ul", { class: "broken-rules" }, violations.map((each) => h("li", {}, h("a", { href: `/rules/${name}#${each.rule}` }, each.rule), explained(each, each.rule))))]
      : []),
    ...(facts.length ? [h("dl", { class: "facts" }, facts.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]))] : []),
    ...(valid === false && !brief ? [h("p", {}, w("verdict.no_points"))] : []),
    ...(isScored() ? [] : game.about(state, answer).filter(Boolean)),
    h("p", { class: "buttons" }, button(w("position.print"), () => window.print())),
  );
};

const toVerdict = () => {
  verdict.scrollIntoView({ block: "start" });
  verdict.focus({ preventScroll: true });
};

/** Nothing is known of the position; that it is asked again is the page's business, where it can help. */
const showProblem = () => {
  const { error, reason, again: seconds } = answer;
  const message = reason === null ? w("position.no_server") : w("position.unjudged", { message: error });
  const isAgain = Boolean(seconds);
  const words = [message, ...(isAgain ? [w("position.again_soon")] : [])].join(" ");
  status.replaceChildren(h("p", { class: "judged problem" }, words));
  verdict.replaceChildren(title(), h("p", { class: "problem" }, words), ...(reason === undefined ? [] : [button(w("position.again"), judge)]));
  if (said.textContent !== words) say(words);
  if (isAgain) again = setTimeout(judge, 1000 * seconds);
};

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.matches("input")) return;
  const [from, to] = { z: [past, future], y: [future, past], Z: [future, past] }[event.key] ?? [];
  if (!from) return;
  event.preventDefault();
  undo(from, to);
});
window.addEventListener("online", () => judge());
// On paper no part can be unfolded.
window.addEventListener("beforeprint", () => sheet.querySelectorAll("details").forEach((each) => (each.open = true)));
window.addEventListener("hashchange", () => {
  takeToken();
  if (linkNow() === location.hash) return;
  const isRead = fromLink();
  moved();
  if (!isRead) badLink();
});

const badLink = () => app.prepend(h("p", { class: "problem", role: "alert" }, w("position.bad_link")));

const keysInWords = h(
  "details",
  { class: "keys" },
  h("summary", {}, w("position.keys")),
  h("ul", {}, ["arrows", "next", "enter", "turn", "escape", "undo"].map((each) => h("li", {}, w(`position.keys.${each}`)))),
);

app.replaceChildren(
  chooser,
  seats,
  part(
    "editor",
    part("table", tools, above, part("scroll", board.element), part("tray", status, hand, chosen)),
    part("judgement", verdict, sheet, settings, ...(solving ? [solving.element] : []), keysInWords, printed),
  ),
);
const isRead = fromLink();
shown();
if (!isRead) badLink();
