// Choosing a move of Alhambra: money, a tile of the market and what is paid for it, tiles for the Alhambra and the reserve.

import { drawing } from "../dom.mjs";
import { alhambra as watched } from "../games/alhambra.mjs";
import { modelOf } from "../grid.mjs";
import { w } from "../words.mjs";
import { captioned, keyOf, marked, moveOf, ofKind } from "./cells.mjs";

const VALUES = 9;
const ROOM = 1;

// Cards are numbers, as positions have them: 9 for each currency.
const cardOf = (kind) => ({ currency: Math.floor(kind / VALUES) + 1, value: (kind % VALUES) + 1 });
const kindOf = ({ currency, value }) => (currency - 1) * VALUES + value - 1;
const kindsOf = (counts) => counts.flatMap((n, kind) => Array(n).fill(kind));
const sum = (kinds) => kinds.reduce((total, kind) => total + cardOf(kind).value, 0);
const numberOf = (kinds, kind) => kinds.filter((each) => each === kind).length;
const isWithin = (few, many) => few.every((kind) => numberOf(few, kind) <= numberOf(many, kind));
const without = (kinds, kind) => kinds.toSpliced(kinds.indexOf(kind), 1);
const withCard = (kinds, kind) => [...kinds, kind].sort((one, other) => one - other);

/** A state: the turn, and what is chosen of it, of which only one thing is not empty: `cards` of the money row; a market `slot`
 * (0 is the first) and the `payment`; a `tile` of the reserve or of those to be placed, and a `cell` for it or, without a tile,
 * to be emptied; `away`: the kind of the move by which the tile is put elsewhere.
 */
export const alhambra = (tables, components, { slot_currencies: currencies }) => {
  const { tiles: names } = tables;
  const game = watched(tables, components);

  const picture = (tile) => drawing([[`alh-piece-${tile}`, 0, 0]]);
  const currencyOf = (slot) => currencies[slot] ?? slot + 1;
  const toPlace = ({ moves }) => ofKind(moves, "reserve_tile").map(({ tile }) => tile);
  const isAction = ({ position }) => position.phase === "ACTION";
  const nothing = { cards: [], slot: null, payment: [], tile: null, cell: null, away: null };

  const begin = ({ position, seat, moves }) => {
    const tiles = toPlace({ moves });
    return { position, seat, moves, ...nothing, tile: tiles.length === 1 ? tiles[0] : null };
  };

  /** Each card as an option that is chosen or not; `then`: the state with these cards chosen. */
  const cardOptions = (kinds, chosen, then) =>
    kinds.map((kind, at) => {
      const isChosen = numberOf(kinds.slice(0, at), kind) < numberOf(chosen, kind);
      return {
        label: game.cards([cardOf(kind)]),
        picture: null,
        chosen: isChosen,
        legal: true,
        goesOn: true,
        next: then(isChosen ? without(chosen, kind) : withCard(chosen, kind), kind),
      };
    });

  // The choices

  const money = (state) => {
    const takings = ofKind(state.moves, "take_money").map(({ cards }) => cards.map(kindOf));
    /** A card that cannot be taken with the others is taken instead of them. */
    const then = (cards, kind) => ({ ...state, ...nothing, cards: takings.some((taken) => isWithin(cards, taken)) ? cards : [kind] });
    return { label: w("alhambra.choosing.money"), options: cardOptions(kindsOf(state.position.row), state.cards, then) };
  };

  const paymentsFor = (state, slot) =>
    ofKind(state.moves, "buy")
      .filter((buy) => buy.slot === slot + 1)
      .map(({ payment }) => payment.map(kindOf));
  /** The seat's cards of the slot's currency. */
  const purse = ({ position, seat }, slot) => kindsOf(position.seats[seat].hand).filter((kind) => cardOf(kind).currency === currencyOf(slot));

  const market = (state) => ({
    label: w("alhambra.market"),
    options: state.position.market.flatMap((number, slot) => {
      if (number === null) return [];
      const tile = names[number];
      const payments = paymentsFor(state, slot);
      // A tile that cannot be paid for is chosen with all the money there is, so that the referee names the missing amount.
      const payment = payments.length === 0 ? purse(state, slot) : payments.length === 1 ? payments[0] : [];
      const isChosen = state.slot === slot;
      return [
        {
          label: w("alhambra.choosing.slot", { tile: game.tileWords(tile), currency: game.currencyWords(currencyOf(slot)) }),
          picture: captioned(picture(tile), game.currencyWords(currencyOf(slot))),
          chosen: isChosen,
          legal: payments.length > 0,
          next: isChosen ? begin(state) : { ...state, ...nothing, slot, payment },
        },
      ];
    }),
  });

  const payment = (state) => ({
    label: w("alhambra.choosing.payment"),
    options:
      state.slot !== null && paymentsFor(state, state.slot).length
        ? cardOptions(purse(state, state.slot), state.payment, (cards) => ({ ...state, payment: cards }))
        : [],
  });

  const tiles = (label, numbersOrNames) => (state) => {
    const { position, seat, moves, tile } = state;
    const usable = new Set(moves.map((each) => each[each.move].tile));
    return {
      label: w(label),
      options: numbersOrNames(state, position.seats[seat]).map((name) => ({
        label: game.tileWords(name),
        picture: picture(name),
        chosen: tile === name,
        legal: usable.has(name),
        next: { ...state, ...nothing, tile: tile === name ? null : name },
      })),
    };
  };
  const reserve = tiles("alhambra.reserve", (_, { reserve: numbers }) => numbers.map((number) => names[number]));
  const toBePlaced = tiles("alhambra.choosing.place", toPlace);

  const elsewhere = (state) => {
    const { tile, moves, away } = state;
    const option = (kind, label) =>
      ofKind(moves, kind).some((each) => each.tile === tile)
        ? [{ label: w(label), picture: null, chosen: away === kind, legal: true, next: { ...state, cell: null, away: away === kind ? null : kind } }]
        : [];
    return {
      label: w("alhambra.choosing.elsewhere"),
      options: [...option("reserve_tile", "alhambra.choosing.reserve"), ...option("give_tile", "alhambra.choosing.give")],
    };
  };

  // The board

  const isTaken = ({ position, seat }, { x, y }) =>
    (x === 0 && y === 0) || position.seats[seat].cells.some((cell) => cell.x === x && cell.y === y);

  /** What is done with the tile on the cell. */
  const onCell = (state) => {
    const { tile, cell } = state;
    if (!tile) return moveOf("rebuild_remove", { cell });
    if (!isAction(state)) return moveOf("place_tile", { tile, cell });
    return moveOf(isTaken(state, cell) ? "rebuild_swap" : "rebuild_add", { tile, cell });
  };

  const board = (state) => {
    const { position, seat, moves, tile, cell } = state;
    const legal = moves.map((each) => each[each.move]).filter((each) => each.cell && (each.tile ?? null) === tile);
    const piece = tile && cell ? { piece: `alh-piece-${tile}`, label: `${w("cell", cell)}, ${game.tileWords(tile)}` } : null;
    const chosen = new Map(cell ? [[keyOf(cell), piece]] : []);
    return marked(modelOf(game.board(position, seat), ROOM), new Set(legal.map((each) => keyOf(each.cell))), chosen);
  };

  const choose = (state, x, y, say) => {
    const cell = { x, y };
    const { tile } = state;
    if (!tile && !(isAction(state) && isTaken(state, cell))) {
      say(w(isAction(state) ? "alhambra.choosing.first_reserve" : "alhambra.choosing.first_tile"));
      return null;
    }
    return { ...state, ...nothing, tile, cell: state.cell && keyOf(state.cell) === keyOf(cell) ? null : cell };
  };

  return {
    begin,

    groups: (state) => {
      // With a tile to be laid, it is the board that matters.
      const groups = !isAction(state) ? [toBePlaced, elsewhere] : state.tile ? [reserve] : [market, payment, money, reserve];
      return groups.map((group) => group(state)).filter(({ options }) => options.length);
    },

    board,
    choose,

    move: (state) => {
      const { cards, slot, payment: paid, tile, cell, away } = state;
      if (cards.length) return moveOf("take_money", { cards: cards.map(cardOf) });
      if (slot !== null) {
        const payments = paymentsFor(state, slot);
        const isEnough = !payments.length || payments.some((each) => isWithin(each, paid));
        return isEnough ? moveOf("buy", { slot: slot + 1, payment: paid.map(cardOf) }) : null;
      }
      if (away) return moveOf(away, { tile });
      return cell ? onCell(state) : null;
    },

    hint: (state) => {
      const { slot, payment: paid, tile } = state;
      if (slot !== null) return w("alhambra.choosing.pays", { paid: sum(paid), price: game.costOf(names[state.position.market[slot]]) });
      if (!isAction(state)) return w(tile ? "alhambra.choosing.lay" : "alhambra.choosing.first_tile");
      if (tile) return w("alhambra.choosing.rebuild");
      return w(state.moves.some((each) => each[each.move].cell) ? "alhambra.choosing.action" : "alhambra.choosing.action.first");
    },

    keys: { Escape: begin },
  };
};
