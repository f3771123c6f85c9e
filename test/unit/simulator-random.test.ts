import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draw, shuffled } from '../../infra/local/simulator/state/random.ts';

describe("the simulator's random numbers", () => {
  it('depend only on seed and number, and lie in [0, 1)', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(), (seed, n) => {
        const drawn = draw(seed, n);
        expect(drawn).toBeGreaterThanOrEqual(0);
        expect(drawn).toBeLessThan(1);
        expect(draw(seed, n)).toBe(drawn);
      }),
    );
  });

  it('neither lose nor duplicate items in a shuffle', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat()), fc.integer(), (items, seed) => {
        const result = shuffled(items, seed, (item) => item);
        expect([...result].sort((a, b) => a - b)).toEqual([...items].sort((a, b) => a - b));
        expect(shuffled([...items].reverse(), seed, (item) => item)).toEqual(result);
      }),
    );
  });

  it('are spread evenly enough for shuffles and faults', () => {
    const drawn = Array.from({ length: 2_000 }, (_, n) => draw(42, n));
    const share = drawn.filter((value) => value < 0.25).length / drawn.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.3);
  });
});
