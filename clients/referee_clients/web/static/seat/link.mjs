// Which seat is meant: from the link, taken out of the address before anybody sees it there, or from a join string.

const LINK = /^#([0-9a-f]{32})\/([0-9])\/([!-~]{1,1000})$/;
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

/** The link's seat or null; the address has nothing of it afterwards but the seat. */
export const taken = () => {
  const link = ofLink(location.hash);
  const [, game, seat] = /^#([0-9a-f]{32})\/([0-9])$/.exec(location.hash) ?? [];
  if (link) history.replaceState(null, "", `${location.pathname}#${link.game}/${link.seat}`);
  else if (game) return { game, seat: Number(seat), token: "" };
  else if (location.hash) history.replaceState(null, "", location.pathname);
  return link;
};
