// The keys that this browser keeps, which cannot be read, and each seat's acts that were signed before they were sent.

const DATABASE = "tile-referee";
const VERSION = 2;
const SEATS = "seats";
const KEYS = "keys";

/** The browser keeps nothing here: private windows of some browsers do not. */
export class NoVault extends Error {}

let database = null;

const open = () =>
  new Promise((resolve, reject) => {
    const fail = () => reject(new NoVault());
    try {
      const request = indexedDB.open(DATABASE, VERSION);
      request.onupgradeneeded = () => {
        const { result: made } = request;
        for (const name of [SEATS, KEYS]) if (!made.objectStoreNames.contains(name)) made.createObjectStore(name, { keyPath: "id" });
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = request.onblocked = fail;
    } catch {
      fail();
    }
  });

/** The database, opened once; anew after the browser closed it. */
const opened = () => {
  const again = () => (database = null);
  database ??= open().then(
    (found) => {
      found.onclose = found.onversionchange = () => again(found.close());
      return found;
    },
    (error) => {
      again();
      throw error;
    },
  );
  return database;
};

/** Does one thing in a transaction of its own; done when it is on the disk. Throws NoVault. */
const within = async (mode, act, name = SEATS) => {
  const found = await opened();
  return new Promise((resolve, reject) => {
    const transaction = found.transaction(name, mode, { durability: "strict" });
    const request = act(transaction.objectStore(name));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = transaction.onerror = () => reject(new NoVault(transaction.error?.message));
  });
};

/**
 * One seat: `{id, game, seat, token, key, publicKey, share, pending, next, receipts}`.
 * `id`: of `idOf`. `pending`: an act that may be on its way, or null. `next`: a key that was named and has not signed yet,
 * `{key, publicKey}`, or null. `receipts`: the newest checkpoint that was seen, over its own acts; none before the first.
 */
export const idOf = (game, seat) => `${game}/${seat}`;

export const put = (seat) => within("readwrite", (store) => store.put(seat));
export const get = (id) => within("readonly", (store) => store.get(id));
export const remove = (id) => within("readwrite", (store) => store.delete(id));
export const all = () => within("readonly", (store) => store.getAll());

/** A key that is for no seat, `{id, key, publicKey}`. */
export const putKey = (key) => within("readwrite", (store) => store.put(key), KEYS);
export const getKey = (id) => within("readonly", (store) => store.get(id), KEYS);
export const removeKey = (id) => within("readwrite", (store) => store.delete(id), KEYS);
