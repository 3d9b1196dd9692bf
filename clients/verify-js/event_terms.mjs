// The terms of an event, and what they have to be: EVT-S2, EVT-S4, and the limits of docs/events.md.

/** Points are whole numbers of 1/60. */
export const PARTS = 60;
export const MAX_ENTRANTS = 1024;
/** Whole points that a place, or an arbiter, can give. */
export const MAX_POINTS = 10_000;
/** Tie-breaks by their numbers in the schema. */
export const TIE_BREAKS = ["", "wins", "relative", "place", "opponents", "opponents-cut", "direct", "game"];
const [SMALLEST, LARGEST] = [2, 6];
const MAX_ROUNDS = 20;

const isSize = (size) => size >= SMALLEST && size <= LARGEST;
const isOnce = (values) => new Set(values).size === values.length;
const falls = (places) => places.every((points, at) => at === 0 || points <= places[at - 1]) && places[0] > places.at(-1);

/** Whole points by place at a table of so many; undefined if the terms have none. */
export const placePoints = (terms, size) => terms.points[terms.sizes.indexOf(size)]?.places;

/** What is wrong with the terms, in words, or null. */
export function termsFault(terms) {
  const { sizes, rounds, points, tie_breaks: ties, cut, cut_size: seats, cut_advance: advance } = terms;
  const asked = [
    ["game: none is named", terms.game !== ""],
    ["sizes: expected each of 2 to 6 once", sizes.length > 0 && isOnce(sizes) && sizes.every(isSize)],
    [`rounds: expected 1 to ${MAX_ROUNDS}`, rounds >= 1 && rounds <= MAX_ROUNDS],
    ["points: expected those of each size, a place each", points.length === sizes.length && points.every(({ places }, at) => places.length === sizes[at])],
    ["points: too many", points.every(({ places }) => places.every((each) => each <= MAX_POINTS))],
    ["points: expected fewer for a worse place (EVT-S2)", points.every(({ places }) => falls(places))],
    ["tie_breaks: expected each once", isOnce(ties) && !ties.includes(0)],
    ["bye_points: more than a first place (EVT-S4)", terms.bye_points <= PARTS * Math.min(...points.map(({ places }) => places[0]))],
    ["late_until: no round of the event", terms.late_until <= rounds],
    ["late_points: more than a bye", terms.late_points <= terms.bye_points],
    ["cut: a knock-out without players", cut > 0 || (seats === 0 && advance === 0)],
    ["cut: expected 2 to 1024", cut === 0 || (cut >= 2 && cut <= MAX_ENTRANTS)],
    ["cut_size: expected 2 to 6", cut === 0 || isSize(seats)],
    ["cut_advance: expected one, up to half a table", cut === 0 || (advance >= 1 && 2 * advance <= seats)],
  ];
  return asked.find(([, holds]) => !holds)?.[0] ?? null;
}
