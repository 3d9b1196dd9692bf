// A game of boardgame.io with moves like ours: somebody lays a named tile on a cell. No rule is checked, and the state
// stays small, so that what is measured is the library and not a game.

exports.game = {
  name: "tiles",
  setup: () => ({ laid: 0, tile: "", x: 0, y: 0 }),
  turn: { minMoves: 1, maxMoves: 1 },
  moves: {
    // Not played ahead by the client: then its answer is the server's.
    lay: {
      client: false,
      move: ({ G }, tile, x, y) => ({ laid: G.laid + 1, tile, x, y }),
    },
  },
};
