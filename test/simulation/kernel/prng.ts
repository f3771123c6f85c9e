import { createHash } from 'node:crypto';

/** The only source of chance in a run. The same seed and label give the same numbers on every machine. */
export interface Prng {
  /** 0 <= draw < 1 */
  next(): number;
  /** An integer between both bounds, inclusive. */
  int(from: number, to: number): number;
  chance(probability: number): boolean;
  /** @throws RangeError for an empty list */
  pick<T>(items: readonly T[]): T;
  /** One of the items, in proportion to their weights. @throws RangeError if all weights are 0 */
  weighted<T extends { readonly weight: number }>(items: readonly T[]): T;
  fill(bytes: Uint8Array): void;
  /** Another sequence, independent of the position in this sequence. */
  fork(label: string): Prng;
}

const WORD = 2 ** 32;

/** sfc32, seeded by SHA-256 of the label. */
export const createPrng = (label: string): Prng => {
  const seed = createHash('sha256').update(label).digest();
  let [a, b, c, d] = [seed.readInt32LE(0), seed.readInt32LE(4), seed.readInt32LE(8), 1];
  const word = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let round = 0; round < 12; round += 1) word();
  const next = (): number => word() / WORD;
  const pick = <T>(items: readonly T[]): T => {
    const found = items[Math.floor(next() * items.length)];
    if (found === undefined) throw new RangeError('there is nothing to pick from');
    return found;
  };
  return {
    next,
    int: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick,
    weighted: (items) => {
      let left = next() * items.reduce((sum, { weight }) => sum + weight, 0);
      for (const item of items) {
        left -= item.weight;
        if (left < 0) return item;
      }
      throw new RangeError('there is nothing to pick from');
    },
    fill: (bytes) => {
      for (let at = 0; at < bytes.length; at += 1) bytes[at] = word() & 255;
    },
    fork: (name) => createPrng(`${label}/${name}`),
  };
};
