// Every word that a reader sees, as the page holds those that it needs. Sentences have {places}; a language is one file.

const catalogue = JSON.parse(document.getElementById("words").textContent);

/** The words of a key, with its places filled. A key that does not exist is a mistake of ours, and throws. */
export const w = (key, places = {}) => {
  if (!(key in catalogue)) throw new Error(`no words for ${key}`);
  return catalogue[key].replace(/\{(\w+)\}/g, (_, name) => {
    if (!(name in places)) throw new Error(`${key} needs ${name}`);
    return String(places[name]);
  });
};
