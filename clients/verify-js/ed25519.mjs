// Ed25519 with the strict rule of section 2: what WebCrypto verifies, and the checks that it leaves out.

import { fromHex, hex } from "./bytes.mjs";

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const modulo = (a) => ((a % P) + P) % P;

function power(base, exponent) {
  let result = 1n;
  for (; exponent; exponent >>= 1n, base = (base * base) % P) if (exponent & 1n) result = (result * base) % P;
  return result;
}

const D = modulo(-121665n * power(121666n, P - 2n));
const ROOT_OF_MINUS_1 = power(2n, (P - 1n) / 4n);

function number(bytes) {
  let result = 0n;
  for (let at = bytes.length - 1; at >= 0; at--) result = (result << 8n) | BigInt(bytes[at]);
  return result;
}

const withoutSign = (bytes) => number(bytes) & (2n ** 255n - 1n);

// y of the points whose order divides 8, whatever the sign of x.
const Y_OF_ORDER_8 = withoutSign(fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"));
const SMALL = new Set([0n, 1n, P - 1n, Y_OF_ORDER_8, P - Y_OF_ORDER_8]);

const plainPoint = (bytes) => withoutSign(bytes) < P && !SMALL.has(withoutSign(bytes));

/** x of the point with this y and this lowest bit, or null if there is none. */
function xOf(y, sign) {
  const u = modulo(y * y - 1n);
  const v = modulo(D * y * y + 1n);
  let x = modulo(u * power(v, 3n) * power(modulo(u * power(v, 7n)), (P - 5n) / 8n));
  if (modulo(v * x * x) === modulo(-u)) x = modulo(x * ROOT_OF_MINUS_1);
  if (modulo(v * x * x) !== u) return null;
  return (x & 1n) === sign ? x : modulo(-x);
}

// Points are (X, Y, Z, T) as in RFC 8032, section 5.1.4; coordinates may be negative, as long as they stay small.

function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = ((y1 - x1) * (y2 - x2)) % P;
  const b = ((y1 + x1) * (y2 + x2)) % P;
  const c = (((2n * t1 * t2) % P) * D) % P;
  const d = (2n * z1 * z2) % P;
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [(e * f) % P, (g * h) % P, (f * g) % P, (e * h) % P];
}

function double([x, y, z]) {
  const a = (x * x) % P;
  const b = (y * y) % P;
  const h = a + b;
  const e = h - (((x + y) * (x + y)) % P);
  const g = a - b;
  const f = 2n * ((z * z) % P) + g;
  return [(e * f) % P, (g * h) % P, (f * g) % P, (e * h) % P];
}

function inSubgroup(bytes) {
  const y = withoutSign(bytes);
  const x = xOf(y, BigInt(bytes[31] >> 7));
  if (x === null) return false;
  const point = [x, y, 1n, modulo(x * y)];
  let sum = [0n, 1n, 1n, 0n];
  for (const bit of ORDER.toString(2)) {
    sum = double(sum);
    if (bit === "1") sum = add(sum, point);
  }
  return modulo(sum[0]) === 0n && modulo(sum[1] - sum[2]) === 0n;
}

// A check takes a millisecond, and a game has few keys.
const checked = new Map();

/** Whether the 32 bytes may be declared as a key: a canonical point of the prime-order subgroup, not the identity. */
export function isKey(bytes) {
  const name = hex(bytes);
  if (!checked.has(name)) checked.set(name, plainPoint(bytes) && inSubgroup(bytes));
  return checked.get(name);
}

/** Whether the 64 bytes are the key's signature of the message; the key is 32 bytes. */
export async function verifies(key, message, signature) {
  const holds = await holdsByTheRule(key, message, signature);
  if (holds) whenSigned(key, message, signature);
  return holds;
}

let whenSigned = () => {};
/** Has every signature that holds told from now on: `told(key, message, signature)`. */
export const tellSignatures = (told) => (whenSigned = told);

async function holdsByTheRule(key, message, signature) {
  if (!plainPoint(key) || !plainPoint(signature.subarray(0, 32)) || number(signature.subarray(32)) >= ORDER) return false;
  let imported;
  try {
    imported = await crypto.subtle.importKey("raw", key, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name === "DataError") return false;
    throw error;
  }
  return crypto.subtle.verify({ name: "Ed25519" }, imported, signature, message);
}
