// Which seat is meant: from the link, or from a join string. It comes before all other programs of the page and needs none of
// them: what the link holds is taken out of the address whatever becomes of those.

const LINK = /^#([0-9a-f]{32})\/([0-9])\/([!-~]{1,1000})$/;
const KEPT = /^#([0-9a-f]{32})\/([0-9])$/;
const JOIN = /^\S+\/([0-9a-f]{32})\/([0-9])#([!-~]{1,1000})$/;

const found = (match, decoded) => match && { game: match[1], seat: Number(match[2]), token: decoded(match[3]) };

const unescaped = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** `{game, seat, token}` of a link's part behind the #, or null. */
export const ofLink = (hash) => found(LINK.exec(hash), unescaped);

/** The same of what somebody types: a link or a join string. */
export const ofText = (text) => {
  const trimmed = text.trim();
  return found(JOIN.exec(trimmed), (token) => token) ?? ofLink(trimmed.slice(Math.max(0, trimmed.indexOf("#"))));
};

/** Whether such a part behind the # means a seat at all, with a token or without one. */
export const isSeat = (hash) => KEPT.test(hash) || LINK.test(hash);

const taken = () => {
  const link = ofLink(location.hash);
  if (link) {
    history.replaceState(null, "", `${location.pathname}#${link.game}/${link.seat}`);
    remember(link);
    return link;
  }
  const [, game, seat] = KEPT.exec(location.hash) ?? [];
  return game ? { game, seat: Number(seat), token: remembered(game, seat) } : null;
};

// A phone may drop the tab while its owner looks where the key file went: until the seat is taken, the tab keeps the token.

const nameOf = (game, seat) => `token ${game}/${seat}`;
const within = (act) => {
  try {
    return act(sessionStorage);
  } catch {
    return null; // a browser that keeps nothing
  }
};
const remember = ({ game, seat, token }) => within((tab) => tab.setItem(nameOf(game, seat), token));
const remembered = (game, seat) => within((tab) => tab.getItem(nameOf(game, seat))) ?? "";

/** The seat is kept elsewhere now. */
export const forget = ({ game, seat }) => within((tab) => tab.removeItem(nameOf(game, seat)));

/** The seat of the page's address, `{game, seat, token}`, or null; the token is empty if the address had none. */
export const place = taken();

// The page says so if a part of it does not come; nothing else would.
addEventListener("error", ({ target }) => target instanceof HTMLScriptElement && document.getElementById("unloaded").removeAttribute("hidden"), true);
