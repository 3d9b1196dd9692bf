// A game of Alhambra for those who watch: boards, what lies on the table, moves in words.

import { w } from "../words.mjs";

const CURRENCIES = ["denar", "dirham", "ducat", "guilder"];
const VALUES = 9;
const DECISIONS = new Set(["ACTION", "PLACE", "HAND_OUT"]);

/** `tables`: as GameOpen has them, names by number; `components`: the tiles by name. */
export const alhambra = ({ tiles: names }, { tiles }) => {
  const byName = new Map(tiles.map((tile) => [tile.name, tile]));
  const tileWords = (name) => {
    const tile = byName.get(name);
    if (!tile) return name;
    const walls = { 0: "none", 1: "one" }[tile.walls.length] ?? "many";
    return w("alhambra.tile", {
      type: w(`type.${tile.type}`),
      cost: tile.cost,
      walls: w(`alhambra.walls.${walls}`, { sides: [...tile.walls].map((side) => w(`side.${side}`)).join(" ") }),
    });
  };
  const listed = (each) => each.join(", ") || "–";
  const tilesOf = (numbers) => listed(numbers.map((number) => tileWords(names[number])));
  const currencyWords = (currency) => w(`currency.${CURRENCIES[currency - 1]}`);
  const card = ({ currency, value }) => w("alhambra.card", { currency: currencyWords(currency), value });
  const cards = (held) => listed(held.map(card));
  const counted = (counts) =>
    cards(counts.flatMap((n, at) => Array(n).fill({ currency: Math.floor(at / VALUES) + 1, value: (at % VALUES) + 1 })));
  const at = ({ x, y }) => w("cell", { x, y });

  return {
    /** In words: a tile by its name, a currency by its number, cards. */
    tileWords,
    currencyWords,
    cards,
    costOf: (name) => byName.get(name).cost,

    board: ({ seats }, seat) => {
      const laid = new Map(seats[seat].cells.map(({ x, y, tile }) => [`${x},${y}`, names[tile]]));
      laid.set("0,0", "fountain");
      return {
        cells: [...laid.keys()],
        cell: (x, y) => {
          const name = laid.get(`${x},${y}`);
          const what = name === "fountain" ? w("alhambra.fountain") : name ? tileWords(name) : w("cell.empty");
          return { label: `${at({ x, y })}, ${what}`, piece: name ? `alh-piece-${name}` : null };
        },
      };
    },

    /** What is awaited: a seat's decision, or null for what is drawn. */
    awaits: ({ phase, seat }) => (DECISIONS.has(phase) ? { seat, act: w(`alhambra.awaits.${phase.toLowerCase()}`) } : null),

    ofSeat: ({ seats }, seat) => {
      const { score, hand, reserve, won } = seats[seat];
      return [
        [w("watch.points"), score],
        [w("alhambra.hand"), counted(hand)],
        ...(reserve.length ? [[w("alhambra.reserve"), tilesOf(reserve)]] : []),
        ...(won.length ? [[w("alhambra.won"), tilesOf(won)]] : []),
      ];
    },

    ofTable: ({ market, row, bought, neutral, scorings, turns }) => [
      [w("watch.turns"), turns],
      [w("alhambra.scorings"), scorings],
      [
        w("alhambra.market"),
        market
          .map((tile, slot) => w("alhambra.slot", { slot: slot + 1, tile: tile === null ? w("cell.empty") : tileWords(names[tile]) }))
          .join("\n"),
      ],
      [w("alhambra.row"), counted(row)],
      ...(bought.length ? [[w("alhambra.bought"), tilesOf(bought)]] : []),
      ...(neutral.length ? [[w("position.neutral"), tilesOf(neutral)]] : []),
    ],

    move: (move) => {
      const what = move[move.move];
      return w(`alhambra.move.${move.move}`, {
        cards: what.cards || what.payment ? cards(what.cards ?? what.payment) : "",
        slot: what.slot ?? "",
        tile: what.tile ? tileWords(what.tile) : "",
        cell: what.cell ? at(what.cell) : "",
      });
    },

    outcome: (outcome) => {
      const what = outcome[outcome.outcome];
      const turned = (each) => (each.money ? card(each.money) : w("alhambra.scoring_card", { letter: each.scoring === 1 ? "A" : "B" }));
      return w(`alhambra.outcome.${outcome.outcome}`, {
        tiles: what.tiles ? listed(what.tiles.map(tileWords)) : "",
        player: what.seat ?? "",
        cards: what.cards ? listed(what.cards.map((each) => (outcome.outcome === "money_row" ? turned(each) : card(each)))) : "",
      });
    },
  };
};
