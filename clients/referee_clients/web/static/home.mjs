// The games of the referee, those that are played first.

import { h } from "./dom.mjs";
import { w } from "./words.mjs";

const place = document.getElementById("games");

const line = ({ id, rules_id: rules, size, state, result, outcome }) =>
  h(
    "li",
    {},
    h(
      "a",
      { href: `/g/${id}` },
      h("strong", {}, w("watch.title", { game: w(`game.${rules}`), id: id.slice(0, 8) })),
      " ",
      result?.scores.length
        ? w("home.result", { scores: result.scores.join(" : "), outcome })
        : w(state === "OVER" ? "home.over" : "home.running", { n: size }),
    ),
  );

const page = async (next) => {
  const response = await fetch(`/api/v1/games?page=${encodeURIComponent(next)}`);
  const found = await response.json();
  if (!response.ok) throw new Error(found.message);
  return found;
};

const list = h("ul", { class: "choices" });

const more = async (next) => {
  try {
    const { games, next_page: following } = await page(next);
    list.append(...games.map(line));
    place.replaceChildren(
      list.children.length ? list : h("p", {}, w("home.no_games")),
      ...(following ? [h("button", { type: "button", onclick: () => more(following) }, w("home.more"))] : []),
    );
  } catch (error) {
    place.append(h("p", { class: "problem", role: "alert" }, w("home.failed", { message: error.message })));
  }
};
more("");
