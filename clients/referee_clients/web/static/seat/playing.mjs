// A seat at its table: the board it builds, its turn, what the others do, and what it can do beside its moves.

import { h } from "../dom.mjs";
import { grid, picture } from "../grid.mjs";
import { hex } from "../verify/bytes.mjs";
import { nameMark } from "../names.mjs";
import { clockWords, resultOf, standingWords } from "../standing.mjs";
import { firstPlayer, w } from "../words.mjs";
import { Beside } from "./beside.mjs";
import { Player, fits } from "./player.mjs";
import { Turn } from "./turn.mjs";

const LOW_MS = 30_000;

const facts = (pairs) => pairs.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]);

/** The table of a seat that has a key. */
export class Table {
  #game;
  #page;
  #player;
  #turn;
  #beside;
  #board;
  #isConnected = false;
  /** Why what was signed is not answered yet. */
  #waiting = "";
  /** Something is being signed that was not chosen in a turn. */
  #isActing = false;
  /** The decision that is due, and since when. */
  #due = null;
  #dueMs = null;
  #told = h("p", { class: "told", "aria-live": "polite" });
  #call = h("p", { class: "call", "aria-live": "assertive" });
  #join = h("div", {});
  #stands = h("p", { class: "stands" });
  #result = h("section", { class: "result" });
  #own = h("dl", { class: "facts" });
  #facts = h("dl", { class: "facts" });
  #forget;
  #others;
  #names;
  #clocks;

  /**
   * `kept`: the seat, as the vault has it. `chooser`: of the game. `page`: `tell(words, isProblem)` of the head of the page,
   * `saveFile(name, text)`, `failed(error)`, `forget()`: this browser keeps nothing of the seat any more, `misfit()`: the key
   * that is here is not the seat's.
   */
  constructor(game, kept, chooser, page) {
    this.#game = game;
    this.#page = page;
    this.#forget = h("button", { type: "button", hidden: true, onclick: () => page.forget() }, w("seat.forget"));
    const waits = (why) => {
      this.#waiting = why;
      this.#state();
    };
    this.#player = new Player(game, kept, { waiting: ({ message }) => waits(w("seat.waiting", { why: message || w("seat.no_answer") })), sent: () => waits("") });
    const { seat } = this.#player;
    let turn = null;
    const keys = Object.fromEntries(Object.keys(chooser.keys ?? {}).map((key) => [key, () => turn.keys[key]()]));
    this.#board = grid(w("seat.board", { player: seat }), (x, y) => turn.choose(x, y, (words) => this.#say(words)), keys);
    const shown = { element: this.#board.element, show: () => this.#show(), focus: () => this.#board.focus() };
    turn = this.#turn = new Turn(game, kept, chooser, shown, (...chosen) => this.#enter(...chosen));
    this.#beside = new Beside(game, this.#player, page);
    this.#clocks = Array.from({ length: game.seats }, () => game.hasClocks && h("span", { class: "clock", role: "timer" }));
    this.#names = Array.from({ length: game.seats }, () => h("span", { class: "name" }));
    this.#others = Array.from({ length: game.seats }, (_, each) => each).filter((each) => each !== seat).map((each) => {
      const board = h("div", { class: "mini-board" });
      const own = h("dl", { class: "facts" });
      const title = h("h3", {}, this.#names[each], this.#clocks[each]);
      return { seat: each, board, own, section: h("section", { "aria-label": firstPlayer(each) }, title, board, own) };
    });
    const title = h("h2", {}, this.#names[seat], this.#clocks[seat]);
    this.element = h(
      "div",
      { class: "seat" },
      h("div", { class: "stepper" }, this.#stands, this.#call, this.#told),
      this.#join,
      this.#result,
      h("section", { class: "own", "aria-label": firstPlayer(seat) }, title, this.#turn.element, this.#own),
      h("section", { "aria-label": w("watch.table") }, h("h2", {}, w("watch.table")), this.#facts),
      h("div", { class: "boards" }, this.#others.map(({ section }) => section)),
      this.#beside.element,
      h("p", {}, h("a", { href: `/g/${game.id}` }, w("seat.watch"))),
      this.#forget,
    );
  }

  /** Goes on where this browser stopped; `joins`: takes the seat at once. */
  async start(joins) {
    this.#draw();
    if (joins && !this.#game.keysOf(this.#player.seat).length) return this.#takeSeat();
    await this.#player.settle();
    if (!this.#player.isPending) return void this.#goOn();
    // The next step depends on the act that is on its way.
    void this.#acting(() => this.#player.resume(), () => this.#goOn());
  }

  /** Something ended it: nothing can be signed here any more. */
  stop() {
    this.#player.stop();
    this.#turn.end();
    this.#call.textContent = "";
    this.#join.replaceChildren();
    this.#beside.element.remove();
    this.#show();
  }

  connected(isConnected) {
    this.#isConnected = isConnected;
    this.#state();
  }

  /** The game has the entries from `first` on. */
  async took(first) {
    const words = Array.from({ length: this.#game.last - first + 1 }, (_, at) => this.#game.wordsOf(first + at));
    this.#say(words.join("\n"));
    await this.#player.settle();
    if (!fits(this.#game, this.#player.kept)) return this.#page.misfit();
    this.#draw();
    this.#goOn();
  }

  #drawNames() {
    this.#names.forEach((name, seat) => name.replaceChildren(...[firstPlayer(seat), nameMark(this.#game.names[seat])].filter(Boolean)));
  }

  tick() {
    this.#clocks.forEach((clock, seat) => {
      if (!clock) return;
      const left = this.#game.isOver ? null : this.#game.leftMs(seat);
      clock.textContent = left === null ? "" : left === 0 ? w("clock.up") : clockWords(left);
      clock.classList.toggle("low", left !== null && left < LOW_MS);
    });
  }

  #say(words) {
    this.#told.textContent = words;
  }

  #state() {
    if (this.#player.isStopped) return undefined; // the page says why
    if (this.#game.isOver) return this.#page.tell(w("watch.over"));
    if (this.#waiting) return this.#page.tell(this.#waiting, true);
    return this.#page.tell(w(this.#isConnected ? "watch.is_live" : "watch.broken"), !this.#isConnected);
  }

  /** What is next for the seat. Nobody waits for it: it may need the next entry, which comes when this one is done with. */
  #goOn() {
    if (this.#player.isStopped) return;
    const standing = this.#standing();
    const { seat } = this.#player;
    const isMissing = !this.#isActing && !this.#player.isPending && standing.seats?.includes(seat);
    this.#join.replaceChildren();
    if (standing.is === "joining" && isMissing) return this.#askToJoin();
    if (standing.is === "revealing" && isMissing) return this.#reveal();
    const isOwn = standing.is === "decision" && standing.seat === seat && !standing.scribe && !standing.standIn;
    const call = isOwn ? w("seat.your_turn", { act: standing.act }) : "";
    if (this.#call.textContent !== call) this.#call.textContent = call;
    this.#stands.hidden = isOwn; // it says the same of somebody
    if (!isOwn) this.#due = "";
    if (isOwn) this.#turn.begin(this.#since(standing)).catch((error) => this.#page.failed(error));
    else this.#turn.end();
    this.#show();
    this.#beside.draw(standing);
  }

  /** Since when, by `performance.now()`, the decision that is due is known to be due; null if it was when the page was opened. */
  #since({ act }) {
    const { state_digest: digest } = this.#game.entries[this.#game.last];
    const due = `${hex(digest)} ${act}`;
    if (this.#due !== due) [this.#due, this.#dueMs] = [due, this.#due === null ? null : performance.now()];
    return this.#dueMs;
  }

  /** Opens the seat's part of the deck, once all have joined: this is signed without a question. */
  #reveal() {
    const again = h("button", { type: "button", class: "primary", onclick: () => this.#reveal() }, w("seat.reveal"));
    this.#join.replaceChildren();
    void this.#acting(() => this.#player.reveal(), () => this.#join.replaceChildren(again));
  }

  #askToJoin() {
    const join = h("button", { type: "button", class: "primary", onclick: () => this.#takeSeat() }, w("seat.join", { player: this.#player.seat }));
    this.#join.replaceChildren(h("p", {}, w("seat.join.about")), join);
  }

  #takeSeat() {
    this.#join.replaceChildren();
    void this.#acting(() => this.#player.join(), () => this.#askToJoin());
  }

  /** Sends a move; what is no entry is the turn's to tell. */
  async #enter(move, size, thoughtMs) {
    try {
      return await this.#player.move(move, size, thoughtMs);
    } catch (error) {
      if (error.name === "NotEntered") throw error;
      return this.#page.failed(error);
    }
  }

  /** Does what signs, and goes on; if it is no entry, says what became of it, and does something else. */
  async #acting(work, otherwise) {
    let next = () => this.#goOn();
    this.#isActing = true;
    try {
      await work();
    } catch (error) {
      if (error.name !== "NotEntered") return this.#page.failed(error);
      this.#say(w("seat.not_entered", { message: error.message || w("seat.no_answer") }));
      next = otherwise;
    } finally {
      this.#isActing = false;
    }
    await next?.();
  }

  #standing() {
    return this.#game.standingAt(this.#game.last);
  }

  #draw() {
    this.#drawNames();
    const standing = this.#standing();
    const { last } = this.#game;
    this.#stands.textContent = standing.is === "over" ? "" : standingWords(standing);
    this.#result.replaceChildren(...resultOf(standing));
    this.#forget.hidden = standing.is !== "over";
    this.#facts.replaceChildren(...facts(this.#game.ofTableAt(last)));
    this.#own.replaceChildren(...facts(this.#game.ofSeatAt(last, this.#player.seat)));
    for (const { seat, board, own, section } of this.#others) {
      board.replaceChildren(picture(w("watch.board", { player: seat }), this.#game.boardAt(last, seat, 0)));
      own.replaceChildren(...facts(this.#game.ofSeatAt(last, seat)));
      section.classList.toggle("turn", standing.is === "decision" && standing.seat === seat);
    }
    this.#show();
    this.#state();
    this.tick();
  }

  /** The seat's own board: as it is chosen on, or as it stands. */
  #show() {
    this.#board.show((this.#turn.isOn && this.#turn.model()) || this.#game.boardAt(this.#game.last, this.#player.seat));
  }
}
