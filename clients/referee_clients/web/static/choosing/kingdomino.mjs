// Choosing a move of Kingdomino: where the castle lies, a domino of the line, where the domino in the hand is placed.

import { drawing } from "../dom.mjs";
import { kingdomino as watched } from "../games/kingdomino.mjs";
import { span } from "../kingdom.mjs";
import { w } from "../words.mjs";
import { keyOf, marked, moveOf, ofKind } from "./cells.mjs";

const beside = (one, other) => Math.abs(one.x - other.x) + Math.abs(one.y - other.y) === 1;
const turn = (state) => (state.phase === "PLACE" ? { ...state, turned: !state.turned } : state);

/** A state: the turn, and what is chosen of it. `castle`: its cell in the frame, { x, y }; `domino`: chosen, or in the hand;
 * `first`, `second`: the cells of its halves, of which the left one comes first unless it is `turned`; `discards`: it is
 * discarded.
 */
export const kingdomino = (tables) => {
  const game = watched(tables);

  const begin = ({ position, seat, moves }) => {
    const { phase } = position;
    const { domino } = phase === "PLACE" ? moves[0][moves[0].move] : { domino: null };
    return { position, seat, moves, phase, castle: null, domino, turned: false, first: null, second: null, discards: false };
  };

  /** The halves of the domino in the hand, in the order in which they are placed. */
  const held = ({ domino, turned }) => (turned ? game.halves(domino).toReversed() : game.halves(domino));
  /** Whether it makes no difference which half lies where: then the list has each place once, with the smaller cell first. */
  const isTwin = ([left, right]) => left.piece === right.piece;
  const picture = (halves) => drawing(halves.map(({ piece }, at) => [piece, at, 0]), halves.length);

  /** Every legal place of the domino in the hand, its halves in the order in which they are placed. */
  const ways = (state) =>
    ofKind(state.moves, "place_domino").flatMap(({ left, right }) => {
      if (isTwin(held(state))) return [[left, right], [right, left]];
      return [state.turned ? [right, left] : [left, right]];
    });

  const place = (state) => {
    const cells = [state.first, state.second];
    if (isTwin(held(state))) cells.sort((one, other) => one.x - other.x || one.y - other.y);
    else if (state.turned) cells.reverse();
    const [left, right] = cells;
    return { domino: state.domino, left, right };
  };

  const castleBoard = ({ position, moves, castle }) => {
    const cell = (x, y) => ({ label: w("kingdomino.choosing.cell", { column: x, row: y }) });
    const legal = new Set(ofKind(moves, "place_castle").map(({ column, row }) => `${column},${row}`));
    const label = castle && `${cell(castle.x, castle.y).label}, ${w("kingdomino.castle")}`;
    const chosen = new Map(castle ? [[keyOf(castle), { label, piece: "kdo-piece-castle" }]] : []);
    return marked({ left: 0, top: 0, columns: position.size, rows: position.size, cell }, legal, chosen);
  };

  const placeBoard = (state) => {
    const { position, seat, first, second } = state;
    const { size, seats } = position;
    const { cells, cell } = game.board(position, seat);
    const laid = [...cells.map((key) => key.split(",").map(Number)), ...(first ? [[first.x, first.y]] : [])];
    const [left, columns] = seats[seat].castle ? [-seats[seat].castle.column, size] : span(laid.map(([x]) => x), size);
    const [top, rows] = seats[seat].castle ? [-seats[seat].castle.row, size] : span(laid.map(([, y]) => y), size);
    const isHalfDone = first && !second;
    const going = isHalfDone ? ways(state).filter(([one]) => keyOf(one) === keyOf(first)) : ways(state);
    const legal = new Set(going.map((way) => keyOf(way[isHalfDone ? 1 : 0])));
    const halves = held(state);
    const chosen = [first, second].flatMap((at, n) =>
      at ? [[keyOf(at), { label: `${w("cell", at)}, ${halves[n].words}`, piece: halves[n].piece }]] : [],
    );
    return marked({ left, top, columns, rows, cell }, legal, new Map(chosen));
  };

  const choosePlace = (state, at) => {
    const { first, second } = state;
    if (first && !second && keyOf(first) === keyOf(at)) return { ...state, first: null };
    if (first && !second && beside(first, at)) return { ...state, second: at };
    return { ...state, first: at, second: null, discards: false };
  };

  const line = (state) => {
    const free = new Set(ofKind(state.moves, "choose_domino").map(({ domino }) => domino));
    return {
      label: w("kingdomino.offer"),
      options: state.position.offer.map(({ domino, seat }) => ({
        label: seat === null ? game.words(domino) : w("kingdomino.king", { seat, domino: game.words(domino) }),
        picture: picture(game.halves(domino)),
        chosen: state.domino === domino,
        legal: free.has(domino),
        next: { ...state, domino: state.domino === domino ? null : domino },
      })),
    };
  };

  /** The domino in the hand: it can be turned, or discarded where the list has that. */
  const inHand = (state) => {
    const [discard] = ofKind(state.moves, "discard_domino");
    const domino = game.words(state.domino);
    const ofHand = { picture: picture(held(state)), legal: true };
    const option = discard
      ? { label: w("kingdomino.choosing.discard", { domino }), chosen: state.discards, next: { ...state, first: null, second: null, discards: !state.discards } }
      : { label: w("kingdomino.choosing.turn", { domino }), chosen: false, next: turn(state) };
    return { label: w("kingdomino.choosing.hand"), options: [{ ...ofHand, ...option }] };
  };

  return {
    begin,

    groups: (state) => ({ CHOOSE: [line], PLACE: [inHand] })[state.phase]?.map((group) => group(state)) ?? [],

    board: (state) => ({ CASTLE: castleBoard, PLACE: placeBoard })[state.phase]?.(state) ?? null,

    choose: (state, x, y) => ({ CASTLE: () => ({ ...state, castle: { x, y } }), PLACE: () => choosePlace(state, { x, y }) })[state.phase]?.() ?? null,

    move: (state) => {
      const { phase, castle, domino, second, discards } = state;
      if (castle) return moveOf("place_castle", { column: castle.x, row: castle.y });
      if (phase === "CHOOSE" && domino) return moveOf("choose_domino", { domino });
      if (discards) return moveOf("discard_domino", { domino });
      return second ? moveOf("place_domino", place(state)) : null;
    },

    hint: ({ phase, moves, first }) => {
      if (phase === "CASTLE") return w("kingdomino.choosing.castle");
      if (phase === "CHOOSE") return w("kingdomino.choosing.line");
      if (ofKind(moves, "discard_domino").length) return w("kingdomino.choosing.nowhere");
      return w(first ? "kingdomino.hand.second" : "kingdomino.hand");
    },

    keys: { r: turn, R: turn, Escape: begin },
  };
};
