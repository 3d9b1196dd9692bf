// The reader's token: typed, or from the link behind the #. It is kept in this tab, and sent in one header only.

const KEY = "token";
const IN_LINK = /(^#|[&;])token=([!-~]{1,1000})$/;
let here = "";

export const keep = (token) => {
  here = token;
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing: then it is known until the page is left.
  }
};

/** Take the token out of the link, before anybody sees it there. */
export const take = () => {
  const [found, , token] = IN_LINK.exec(location.hash) ?? [];
  if (!found) return;
  const left = location.hash.slice(0, -found.length);
  history.replaceState(null, "", location.pathname + location.search + left);
  try {
    keep(decodeURIComponent(token));
  } catch {
    keep(token); // a % that stands for itself
  }
};

export const kept = () => {
  if (here) return here;
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
};

take();
