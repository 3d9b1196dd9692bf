// The page of one game, live or entry by entry. A board is drawn only from bytes whose hash is in the log that the referee signed.

import { h } from "./dom.mjs";
import { Game, pinKey, showTrouble } from "./game.mjs";
import { follow } from "./gateway.mjs";
import { grid } from "./grid.mjs";
import { nameMark } from "./names.mjs";
import { clockWords, resultOf, standingWords } from "./standing.mjs";
import { firstPlayer, naming, w } from "./words.mjs";

const TICK_MS = 500;

const id = location.pathname.split("/").at(-1);
const app = document.getElementById("app");
const state = document.getElementById("state");
const game = new Game(id);

let shown = 0;
/** The newest entry is shown, and the next one will be. */
let isAtEnd = true;
let isCut = false;
let stopped = false;
let stream = null;

// --- what the page is made of ------------------------------------------------------------------------------------

const told = h("p", { class: "told", "aria-live": "polite" });
const count = h("span", {});
const stands = h("p", { class: "stands" });
const result = h("section", { class: "result" });
const table = h("dl", { class: "facts" });
const seats = h("div", { class: "boards" });
const list = h("ol", { class: "entries", start: 0 });
let boards = [];

const SIGNS = { "watch.first": "|◀", "watch.back_one": "◀", "watch.on_one": "▶", "watch.live": "▶|" };
const step = (label, to) => h("button", { type: "button", "aria-label": w(label), onclick: () => go(to()) }, SIGNS[label]);
const steps = [
  step("watch.first", () => 0),
  step("watch.back_one", () => shown - 1),
  step("watch.on_one", () => shown + 1),
  step("watch.live", () => game.last),
];

const build = () => {
  document.getElementById("title").textContent = game.title;
  document.title = `${game.title} – ${w("site")}`;
  const { where } = game;
  boards = Array.from({ length: game.seats }, (_, seat) => {
    const clock = h("span", { class: "clock", role: "timer" });
    const out = h("span", { class: "out" });
    const name = h("span", { class: "name" });
    const title = h("h2", {}, name, out, game.hasClocks && clock);
    const facts = h("dl", { class: "facts" });
    const board = grid(w("watch.board", { player: seat }), () => {});
    const section = h("section", {}, title, h("div", { class: "scroll" }, board.element), facts);
    seats.append(section);
    return { section, name, clock, out, facts, board };
  });
  const file = `/api/v1/games/${id}/log`;
  app.replaceChildren(
    h(
      "div",
      { class: "stepper" },
      h("div", { class: "buttons", role: "group", "aria-label": w("watch.steps") }, ...steps, count),
      told,
    ),
    h(
      "div",
      { class: "watched" },
      h("div", {}, stands, result, seats),
      h(
        "aside",
        { "aria-label": w("watch.aside") },
        h("h2", {}, w("watch.table")),
        table,
        h("h2", {}, w("watch.entries")),
        list,
        h("h2", {}, w("watch.record")),
        where && h("p", {}, where),
        h("p", {}, h("a", { href: file, download: `${id}.gamelog` }, w("watch.save"))),
        h("p", {}, h("a", { href: "/verify" }, w("watch.verify")), " ", h("a", { href: "/about" }, w("watch.about"))),
      ),
    ),
  );
};

// --- what is shown -----------------------------------------------------------------------------------------------

const facts = (pairs) => pairs.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]);

/** Show the position after an entry. */
const go = (n, isChosen = true) => {
  shown = Math.max(0, Math.min(game.last, n));
  isAtEnd = shown === game.last;
  if (isChosen) history.replaceState(null, "", isAtEnd ? location.pathname : `#e=${shown}`);
  tell(shown);
  draw();
};

/** Say what happened in the entries from here to the one that is shown: an act, and what followed at once. */
const tell = (first) => {
  const entries = Array.from({ length: shown - first + 1 }, (_, at) => first + at);
  told.textContent = entries.map((n) => game.wordsOf(n)).join("\n");
};

const draw = () => {
  const standing = game.standingAt(shown);
  count.textContent = w("watch.of", { n: shown, all: game.last });
  drawList();
  stands.textContent = standing.is === "over" ? "" : standingWords(standing);
  result.replaceChildren(...resultOf(standing));
  table.replaceChildren(...facts(game.ofTableAt(shown)));
  boards.forEach(({ section, board, out, facts: own }, seat) => {
    board.show(game.boardAt(shown, seat));
    own.replaceChildren(...facts(game.ofSeatAt(shown, seat)));
    section.classList.toggle("turn", standing.is === "decision" && standing.seat === seat);
    const how = standing.out.get(seat);
    out.textContent = how ? w("watch.out", { how: w(`out.${how}`) }) : "";
  });
  drawClocks();
  drawState();
};

const drawNames = () => {
  naming(game.called);
  boards.forEach(({ section, name }, seat) => {
    const called = firstPlayer(seat);
    name.replaceChildren(...[called, nameMark(game.names[seat])].filter(Boolean));
    section.setAttribute("aria-label", called);
  });
};

const drawList = () => {
  for (let n = list.children.length; n <= game.last; n++)
    list.append(h("li", { id: `entry-${n}` }, h("a", { href: `#e=${n}` }, game.wordsOf(n))));
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const current = list.children[shown].firstChild;
  current.setAttribute("aria-current", "true");
  // Only the list scrolls, not the page.
  const [box, line] = [list.getBoundingClientRect(), current.getBoundingClientRect()];
  if (line.top < box.top || line.bottom > box.bottom) list.scrollTop += line.top - box.top - (box.height - line.height) / 2;
};

const drawClocks = () => {
  boards.forEach(({ clock }, seat) => {
    const left = isAtEnd && !game.isOver ? game.leftMs(seat) : null;
    clock.textContent = left === null ? "" : left === 0 ? w("clock.up") : clockWords(left);
    clock.classList.toggle("low", left !== null && left < 30_000);
  });
};

const drawState = () => {
  if (stopped) return;
  const key = game.isOver ? "watch.over" : isCut ? "watch.broken" : isAtEnd ? "watch.is_live" : "watch.replay";
  if (state.textContent !== w(key)) state.textContent = w(key);
  state.className = isCut ? "problem" : "";
};

// --- what stops the page -----------------------------------------------------------------------------------------

/** Shows nothing more. What was drawn until now holds, and can still be stepped through. */
const failed = (error) => {
  if (stopped) return;
  stopped = true;
  stream?.stop();
  game.forgetClocks();
  drawClocks();
  state.textContent = showTrouble(error, game);
  state.className = "problem";
};

// --- what happens ------------------------------------------------------------------------------------------------

const start = async () => {
  pinKey();
  await game.arrive(() => (state.textContent = w("watch.broken")));
  naming(game.called);
  build();
  drawNames();
  go(fromHash() ?? game.last, false);
  stream = follow(() => (stopped || game.isOver ? [] : [[id, game.last]]), {
    open: () => {
      isCut = false;
      drawState();
    },
    commit: async (data) => {
      const next = game.last + 1;
      await game.take(data);
      drawNames();
      if (isAtEnd) {
        shown = game.last;
        tell(Math.min(next, shown));
      }
      draw();
    },
    clock: (data) => {
      game.tell(data);
      drawClocks();
    },
    cut: () => {
      isCut = true;
      game.forgetClocks();
      drawClocks();
      drawState();
    },
    // It may not go on from what was seen: then that is a lie, and is shown by opening it anew.
    refused: () => game.open(),
    failed,
  });
  stream.start();
  setInterval(() => !document.hidden && drawClocks(), TICK_MS);
};

const fromHash = () => {
  const [, n] = /^#e=(\d{1,5})$/.exec(location.hash) ?? [];
  return n === undefined ? undefined : Number(n);
};

addEventListener("hashchange", () => {
  const n = fromHash();
  if (n !== undefined && game.isOpen) go(n, false);
});
addEventListener("keydown", (event) => {
  if (!game.isOpen || event.target.closest("[role=grid], input") || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "ArrowLeft") go(shown - 1);
  else if (event.key === "ArrowRight") go(shown + 1);
  else return;
  event.preventDefault();
});
start().catch(failed);
