// Every word that a reader sees, as the page holds those that it needs, in its language. Sentences have {places}; what is
// worded by a number has forms, by CLDR's plural categories, and names the place whose number decides.

const catalogue = JSON.parse(document.getElementById("words").textContent);
const plural = new Intl.PluralRules(document.documentElement.lang);

/** The words of a key, with its places filled. A key that does not exist is a mistake of ours, and throws. */
export const w = (key, places = {}) => {
  if (!(key in catalogue)) throw new Error(`no words for ${key}`);
  const words = catalogue[key];
  const text = typeof words === "string" ? words : words[plural.select(Number(places[words.of]))];
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name in places)) throw new Error(`${key} needs ${name}`);
    return String(places[name]);
  });
};
