// Choosing a move of Kingdomino: where the castle lies, a domino of the line, where the domino in the hand is placed.

import { drawing } from "../dom.mjs";
import { kingdomino as watched } from "../games/kingdomino.mjs";
import { span } from "../kingdom.mjs";
import { w } from "../words.mjs";
import { captioned, keyOf, marked, moveOf, ofKind } from "./cells.mjs";

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

  /** Whether what is chosen of the place can still become a legal one. */
  const isOpen = (state) =>
    ways(state).some((way) => [state.first, state.second].every((at, n) => !at || keyOf(at) === keyOf(way[n])));

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

  /** The kingdom with room to build: its frame, or as far as it may reach. */
  const kingdom = ({ position, seat, first }) => {
    const { size, seats } = position;
    const { castle } = seats[seat];
    const { cells, cell } = game.board(position, seat);
    const laid = [...cells.map((key) => key.split(",").map(Number)), ...(first ? [[first.x, first.y]] : [])];
    const [left, columns] = castle ? [-castle.column, size] : span(laid.map(([x]) => x), size);
    const [top, rows] = castle ? [-castle.row, size] : span(laid.map(([, y]) => y), size);
    return { left, top, columns, rows, cell };
  };

  const placeBoard = (state) => {
    const { first, second } = state;
    const isHalfDone = first && !second;
    const going = isHalfDone ? ways(state).filter(([one]) => keyOf(one) === keyOf(first)) : ways(state);
    const legal = new Set(going.map((way) => keyOf(way[isHalfDone ? 1 : 0])));
    const halves = held(state);
    const chosen = [first, second].flatMap((at, n) =>
      at ? [[keyOf(at), { label: `${w("cell", at)}, ${halves[n].words}`, piece: halves[n].piece }]] : [],
    );
    return marked(kingdom(state), legal, new Map(chosen));
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
        label: seat === null ? game.words(domino) : w("kingdomino.king", { player: seat, domino: game.words(domino) }),
        picture: captioned(picture(game.halves(domino)), seat === null ? domino : w("kingdomino.choosing.taken", { domino, player: seat })),
        chosen: state.domino === domino,
        legal: free.has(domino),
        next: { ...state, domino: state.domino === domino ? null : domino },
      })),
    };
  };

  /** The domino in the hand: it can be turned, or discarded where the list has that. */
  const inHand = (state) => {
    const { discards } = state;
    const domino = game.words(state.domino);
    const option = (label, caption, chosen, legal, next) => ({ label, picture: captioned(picture(held(state)), caption), chosen, legal, next });
    const [discard] = ofKind(state.moves, "discard_domino");
    return {
      label: w("kingdomino.choosing.hand"),
      options: [
        discard
          ? option(w("kingdomino.choosing.discard", { domino }), w("kingdomino.choosing.away"), discards, true, { ...state, first: null, second: null, discards: !discards })
          : option(w("kingdomino.choosing.turn", { domino }), w("position.turn"), false, isOpen(turn(state)), turn(state)),
      ],
    };
  };

  /** What each phase asks for: groups of options, the board, what a tap on a cell does, and what to do in words. */
  const phases = {
    CASTLE: {
      groups: [],
      board: castleBoard,
      choose: (state, at) => ({ ...state, castle: state.castle && keyOf(state.castle) === keyOf(at) ? null : at }),
      hint: () => w("kingdomino.choosing.castle"),
    },
    CHOOSE: {
      groups: [line],
      board: kingdom,
      choose: (_, __, say) => {
        say(w("kingdomino.choosing.line"));
        return null;
      },
      hint: () => w("kingdomino.choosing.line"),
    },
    PLACE: {
      groups: [inHand],
      board: placeBoard,
      choose: choosePlace,
      hint: ({ moves, first, second }) => {
        if (ofKind(moves, "discard_domino").length) return w("kingdomino.choosing.nowhere");
        return w(first && !second ? "kingdomino.hand.second" : "kingdomino.hand");
      },
    },
  };

  return {
    begin,
    groups: (state) => phases[state.phase].groups.map((group) => group(state)),
    board: (state) => phases[state.phase].board(state),
    choose: (state, x, y, say) => phases[state.phase].choose(state, { x, y }, say),
    hint: (state) => phases[state.phase].hint(state),

    move: (state) => {
      const { phase, castle, domino, second, discards } = state;
      if (castle) return moveOf("place_castle", { column: castle.x, row: castle.y });
      if (phase === "CHOOSE" && domino) return moveOf("choose_domino", { domino });
      if (discards) return moveOf("discard_domino", { domino });
      return second ? moveOf("place_domino", place(state)) : null;
    },

    keys: { r: turn, R: turn, Escape: begin },
  };
};
