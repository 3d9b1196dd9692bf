// Games on a big screen, all of them on one stream. Every board is drawn only from what the referee signed, as on a game's page.

import { h } from "./dom.mjs";
import { Game, pinKey, problemWords } from "./game.mjs";
import { Refused, follow, json } from "./gateway.mjs";
import { picture } from "./grid.mjs";
import { nameMark } from "./names.mjs";
import { clockWords, standingWords } from "./standing.mjs";
import { firstPlayer, naming, w } from "./words.mjs";

const MOST = 12;
const TICK_MS = 500;
const AGAIN_MS = 30_000;
const HEAD_PX = 80;

/** In how many columns boards are largest: of so many games with so many boards each, beside one another. */
const columnsOf = (games, boards) => {
  const side = (columns) => {
    const rows = Math.ceil(games / columns);
    return Math.min(innerWidth / columns / boards, (innerHeight - 2 * HEAD_PX) / rows - HEAD_PX);
  };
  return [1, 2, 3, 4].reduce((best, columns) => (side(columns) > side(best) ? columns : best));
};

const app = document.getElementById("app");
const state = document.getElementById("state");
const full = document.getElementById("full");

/** One game's place on the wall. */
class Card {
  #stands = h("p", { class: "stands" });
  #minis = h("div", { class: "minis" });
  #seats = [];
  isStopped = false;

  constructor(id) {
    this.game = new Game(id);
    this.#stands.textContent = w("watch.loading");
    this.title = h("a", { href: `/g/${id}` }, w("wall.game", { id: id.slice(0, 8) }));
    this.element = h("article", { class: "card" }, h("h2", {}, this.title), this.#stands, this.#minis);
  }

  get id() {
    return this.game.id;
  }

  /** Whether more of it is to come. */
  get isFollowed() {
    return this.game.isOpen && !this.isStopped && !this.game.isOver;
  }

  async open() {
    try {
      await this.game.arrive(() => (this.#stands.textContent = w("watch.broken")));
    } catch (error) {
      return this.stop(error);
    }
    this.title.textContent = [this.game.title, this.game.where].filter(Boolean).join(", ");
    this.#seats = Array.from({ length: this.game.seats }, (_, seat) => {
      const clock = h("span", { class: "clock", role: "timer" });
      const board = h("div", { class: "mini-board" });
      const name = h("span", { class: "name" });
      const figure = h("figure", {}, h("figcaption", {}, name, this.game.hasClocks && clock), board);
      this.#minis.append(figure);
      return { figure, name, clock, board };
    });
    this.draw();
  }

  /** Shows nothing more of this game; its boards are the last that hold. */
  stop(error) {
    this.isStopped = true;
    this.game.forgetClocks();
    this.drawClocks();
    this.element.classList.add("stopped");
    const [headline, ...why] = inOneLine(error, this.game.isOpen);
    this.#stands.replaceChildren(h("strong", { class: "problem" }, headline), " ", why.join(" "));
  }

  draw() {
    naming(this.game.called, () => this.#draw());
  }

  #draw() {
    const standing = this.game.standingAt(this.game.last);
    this.#stands.textContent = standingWords(standing);
    this.element.classList.toggle("over", standing.is === "over");
    this.#seats.forEach(({ figure, name, board }, seat) => {
      name.replaceChildren(...[firstPlayer(seat), nameMark(this.game.names[seat])].filter(Boolean));
      board.replaceChildren(picture(w("watch.board", { player: seat }), this.game.boardAt(this.game.last, seat, 0)));
      figure.classList.toggle("turn", standing.is === "decision" && standing.seat === seat);
    });
    this.drawClocks();
  }

  drawClocks() {
    this.#seats.forEach(({ clock }, seat) => {
      const left = this.game.isOver ? null : this.game.leftMs(seat);
      clock.textContent = left === null ? "" : left === 0 ? w("clock.up") : clockWords(left);
      clock.classList.toggle("low", left !== null && left < 30_000);
    });
  }
}

let cards = [];
let isCut = false;

const say = (...what) => {
  const words = what.join(" ");
  if (state.textContent !== words) state.textContent = words;
};

/** What is wrong, for a big screen: the page's own words alone. */
const inOneLine = (error, isOpen) => problemWords(error, isOpen).filter((line) => typeof line === "string");

const drawState = () => {
  if (isCut) return say(w("watch.broken"));
  const playing = cards.filter((card) => card.isFollowed).length;
  say(cards.length ? w("wall.count", { n: cards.length, playing }) : w("wall.none"));
};

const stream = follow(() => cards.filter((card) => card.isFollowed).map(({ id, game }) => [id, game.last]), {
  open: () => {
    isCut = false;
    drawState();
  },
  commit: async (data) => {
    const card = cards.find(({ id }) => id === data.game);
    if (!card?.isFollowed) return;
    try {
      await card.game.take(data);
      card.draw();
    } catch (error) {
      card.stop(error);
    }
    drawState();
  },
  clock: (data) => {
    const card = cards.find(({ id }) => id === data.game);
    if (!card?.isFollowed) return;
    card.game.tell(data);
    card.drawClocks();
  },
  cut: () => {
    isCut = true;
    for (const { game } of cards) game.forgetClocks();
    for (const card of cards) card.drawClocks();
    drawState();
  },
  // One of them does not go on from what was seen, or is not there any more: the others do.
  refused: () => Promise.all(cards.filter((card) => card.isFollowed).map((card) => card.game.open().catch((error) => error instanceof Refused && error.passes ? null : card.stop(error)))),
  failed: (error) => say(...inOneLine(error, true)),
});

const arrange = () => {
  const boards = Math.max(2, ...cards.map(({ game }) => (game.isOpen ? game.seats : 0)));
  app.style.setProperty("--columns", columnsOf(cards.length, boards));
};

/** Shows these games; those that are shown already stay as they are. */
const show = async (ids) => {
  const added = ids.filter((id) => !cards.some((card) => card.id === id)).map((id) => new Card(id));
  // Games that are over make room, the oldest first.
  const kept = cards.filter((card) => ids.includes(card.id) || card.isFollowed || cards.length + added.length <= MOST);
  for (const card of cards) if (!kept.includes(card)) card.element.remove();
  cards = [...kept, ...added].slice(-MOST);
  app.replaceChildren(...cards.map(({ element }) => element));
  await Promise.all(added.map((card) => card.open()));
  arrange();
  drawState();
  if (added.length) stream.stop();
  stream.start();
};

/** The newest games that are being played. */
const newest = async () => (await json("/games?state=playing")).games.slice(0, MOST).map(({ id }) => id);

const again = async () => {
  try {
    await show(await newest());
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (!cards.length) say(w("wall.failed", { message: error.message || w("watch.broken") }));
  }
};

const start = async () => {
  pinKey();
  setInterval(() => !document.hidden && cards.forEach((card) => card.drawClocks()), TICK_MS);
  const asked = new URLSearchParams(location.search).get("g");
  if (asked === null) {
    await again();
    setInterval(() => !document.hidden && again().catch(failed), AGAIN_MS);
    return;
  }
  const ids = [...new Set(asked.split(",").filter(Boolean))];
  const wrong = ids.filter((id) => !/^[0-9a-f]{32}$/.test(id));
  if (!ids.length || wrong.length || ids.length > MOST) {
    state.className = "problem";
    return say(wrong.length ? w("wall.bad_id", { id: wrong[0].slice(0, 40) }) : w("wall.bad_count", { n: ids.length, most: MOST }));
  }
  await show(ids);
};

const failed = (error) => {
  state.className = "problem";
  say(...inOneLine(error, cards.length > 0));
};

addEventListener("resize", arrange);
full.hidden = !document.fullscreenEnabled;
full.addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()));
start().catch(failed);
