// A kingdom without a fixed frame, as it is shown to those who go on with it.

/** From where to where a kingdom without a fixed frame is shown along one axis, [first, count]: as far as a legal one may reach,
 * one cell at least. `numbers`: where something lies; `size`: of the square that it has to fit into.
 */
export const span = (numbers, size) => {
  const [low, high, most] = [Math.min(...numbers), Math.max(...numbers), size + 1];
  const left = Math.max(-most, Math.min(low - 1, Math.max(low - 2, high - size + 1)));
  return [left, Math.min(most, Math.max(high + 1, Math.min(high + 2, low + size - 1))) - left + 1];
};
