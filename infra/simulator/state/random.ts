import { createHash } from 'node:crypto';

/** The n-th random number of a seed, 0 <= number < 1. Stateless, so a restart continues the same sequence. */
export const draw = (seed: number, n: number): number =>
  createHash('sha256').update(`${seed}:${n}`).digest().readUInt32BE(0) / 2 ** 32;

/** Shuffles the items. The seed and each item's number determine the order. */
export const shuffled = <T>(items: readonly T[], seed: number, numberOf: (item: T) => number): T[] =>
  items
    .map((item) => ({ item, place: draw(seed, numberOf(item)) }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
