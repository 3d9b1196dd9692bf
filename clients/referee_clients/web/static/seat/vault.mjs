// What this browser keeps of seats: keys that cannot be read, and what was signed before it was sent.

const DATABASE = "tile-referee";
const VERSION = 1;
const SEATS = "seats";

/** The browser keeps nothing here: private windows of some browsers do not. */
export class NoVault extends Error {}

let database = null;

const open = () =>
  new Promise((resolve, reject) => {
    const fail = () => reject(new NoVault());
    try {
      const request = indexedDB.open(DATABASE, VERSION);
      request.onupgradeneeded = () => request.result.createObjectStore(SEATS, { keyPath: "id" });
      request.onsuccess = () => resolve(request.result);
      request.onerror = request.onblocked = fail;
    } catch {
      fail();
    }
  });

/** The database, opened once; anew after the browser closed it. */
const opened = () => {
  database ??= open().then((found) => {
    found.onclose = found.onversionchange = () => {
      found.close();
      database = null;
    };
    return found;
  });
  return database;
};

/** Does one thing in a transaction of its own; done when it is on the disk. Throws NoVault. */
const within = async (mode, act) => {
  const found = await opened();
  return new Promise((resolve, reject) => {
    const transaction = found.transaction(SEATS, mode, { durability: "strict" });
    const request = act(transaction.objectStore(SEATS));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = transaction.onerror = () => reject(new NoVault(transaction.error?.message));
  });
};

/**
 * One seat: `{id, game, seat, token, key, publicKey, share, pending, next, receipts}`.
 * `id`: of `idOf`. `pending`: an act that may be on its way, or null. `next`: a key that was named and has not signed yet,
 * `{key, publicKey}`, or null. `receipts`: checkpoints over its own acts.
 */
export const idOf = (game, seat) => `${game}/${seat}`;

export const put = (seat) => within("readwrite", (store) => store.put(seat));
export const get = (id) => within("readonly", (store) => store.get(id));
export const remove = (id) => within("readwrite", (store) => store.delete(id));
export const all = () => within("readonly", (store) => store.getAll());
