// Until a game has a chooser of its own: moves are chosen in words.
export const plain = () => ({ begin: (turn) => turn, groups: () => [], board: () => null, choose: () => null, move: () => null, hint: () => "", keys: {} });
