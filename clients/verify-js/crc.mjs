// CRC-32 of zlib and PNG: of one piece, and of every piece of a stretch of bytes at little cost each.

const POLYNOMIAL = 0xedb88320;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ POLYNOMIAL : byte >>> 1;
  return byte;
});

const step = (state, byte) => TABLE[(state ^ byte) & 0xff] ^ (state >>> 8);

export function crc32(bytes) {
  let state = 0xffffffff;
  for (const byte of bytes) state = step(state, byte);
  return ~state >>> 0;
}

/** The product of two polynomials, modulo that of the CRC; the highest bit is the power 0. */
function product(a, b) {
  let result = 0;
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) result ^= b;
    b = b & 1 ? (b >>> 1) ^ POLYNOMIAL : b >>> 1;
  }
  return result;
}

// What 2^k zero bytes do to a state: a product with x^(8 * 2^k).
const ZEROS = [0x00800000];
while (ZEROS.length < 27) ZEROS.push(product(ZEROS.at(-1), ZEROS.at(-1)));

/**
 * A function (from, to) that gives the CRC of those of the bytes. A search for frames among hostile bytes asks for as many
 * CRCs as there are bytes; computed one by one they would take time in the square of the length.
 */
export function crcOfPieces(bytes) {
  const states = new Uint32Array(bytes.length + 1);
  for (let at = 0; at < bytes.length; at++) states[at + 1] = step(states[at], bytes[at]);
  return (from, to) => {
    let state = states[from] ^ 0xffffffff;
    for (let length = to - from, k = 0; length; length >>>= 1, k++) if (length & 1) state = product(state, ZEROS[k]);
    return ~(state ^ states[to]) >>> 0;
  };
}
