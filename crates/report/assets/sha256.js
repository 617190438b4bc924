// SHA-256 (FIPS 180-4). The browser's own is missing where a page is not from a secure origin, and some browsers do not
// count files as one.

const K = constants(64, 1 / 3);
const START = constants(8, 1 / 2);

/** Returns the digest of a text in UTF-8 as 64 lower-case hexadecimal digits. */
export function sha256(text) {
  const message = new TextEncoder().encode(text);
  const blocks = Math.ceil((message.length + 9) / 64);
  const padded = new Uint8Array(blocks * 64);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(message.length) * 8n);

  const state = Uint32Array.from(START);
  const w = new Uint32Array(64);
  for (let block = 0; block < blocks; block += 1) {
    for (let t = 0; t < 64; t += 1) {
      w[t] = t < 16 ? view.getUint32(block * 64 + t * 4) : schedule(w, t);
    }
    compress(state, w);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

function schedule(w, t) {
  const a = w[t - 15];
  const b = w[t - 2];
  const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
  const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
  return w[t - 16] + s0 + w[t - 7] + s1;
}

function compress(state, w) {
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[t] + w[t]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, at) => {
    state[at] += word;
  });
}

function rotate(word, by) {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits of the fractional parts of roots of the first primes (sections 4.2.2 and 5.3.3). */
function constants(amount, exponent) {
  const primes = [];
  for (let candidate = 2; primes.length < amount; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) {
      primes.push(candidate);
    }
  }
  return primes.map((prime) => ((prime ** exponent % 1) * 2 ** 32) | 0);
}
