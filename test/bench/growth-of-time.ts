/**
 * @module Measures how processor time grows with the length of a text. Uses the minimum of several runs, because noise
 * only adds time, and ignores differences below the floor.
 */
const SHORT = 2_500;
const LONG = 25_000;
const LONGEST = 250_000;
/** For ten times the length, at most ten times the time, plus a margin for other work of the machine. */
const MOST_GROWTH = 12;
/**
 * Growth above `MOST_GROWTH` and up to this factor is unclear, because linear work slows down once when it outgrows the
 * processor's cache. Such growth is measured again with `BEYOND` times the longest text. Quadratic work fails that
 * measurement, too.
 */
const UNCLEAR_GROWTH = 25;
const BEYOND = 4;
const FLOOR_MS = 25;
const RUNS = 3;

export interface Text {
  readonly name: string;
  readonly of: (length: number) => string;
}

export const repeated = (unit: string): Text => ({
  name: JSON.stringify(unit),
  of: (length) =>
    unit
      .repeat(Math.ceil(length / unit.length))
      .slice(0, length)
      .toWellFormed(),
});

const TEXTS: readonly Text[] = [
  ...['1', 'a', ' ', '@', '-', '"', '[', '\\', '😀', 'Zm9v', 'a@a.', '4 ', '_secret_', '?token=a', '[]', 'a,'],
  ...['\u0301\u0316', '👩\u200d'],
].map(repeated);

type Run = (text: string) => unknown;

const spent = async (run: Run, given: string, runs = RUNS): Promise<number> => {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < runs; at += 1) {
    const before = process.cpuUsage();
    await run(given);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
};

const growsTooFast = (shorter: number, longer: number, most = MOST_GROWTH): boolean =>
  longer > most * shorter + FLOOR_MS;

/** Measures the longest text again only after a slow run, because further runs can only lower the minimum. */
const spentOnLongest = async (run: Run, { of }: Text, long: number): Promise<number> => {
  const given = of(LONGEST);
  const first = await spent(run, given, 1);
  return growsTooFast(long, first) ? Math.min(first, await spent(run, given, RUNS - 1)) : first;
};

const SLOWEST = 2;

/** Only growth in every round counts, because a busy machine may slow down a single round. */
const ROUNDS = 3;

const growthInEachRound = async (run: Run, one: Text): Promise<string | undefined> => {
  let growth: string | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    growth = await growthInOneRound(run, one);
    if (growth === undefined) return undefined;
  }
  return growth;
};

/** The milliseconds at each length; undefined if they grow linearly. */
const growthInOneRound = async (run: Run, one: Text): Promise<string | undefined> => {
  const [short, long] = [await spent(run, one.of(SHORT)), await spent(run, one.of(LONG))];
  if (growsTooFast(short, long)) return `${short} ms, ${long} ms`;
  const longest = await spentOnLongest(run, one, long);
  if (!growsTooFast(long, longest)) return undefined;
  const growth = `${short} ms, ${long} ms, ${longest} ms`;
  if (growsTooFast(long, longest, UNCLEAR_GROWTH)) return growth;
  const beyond = await spent(run, one.of(BEYOND * LONGEST));
  return growsTooFast(longest, beyond, (MOST_GROWTH / 10) * BEYOND) ? `${growth}, ${beyond} ms` : undefined;
};

/** The texts with faster than linear growth of time, with the milliseconds at each length. */
export const growthOf = async (run: Run, texts: readonly Text[] = TEXTS): Promise<readonly string[]> => {
  const measured: { readonly text: Text; readonly long: number }[] = [];
  for (const one of texts) {
    const long = await spent(run, one.of(LONG), 1);
    measured.push({ text: one, long });
    // This text is slow already, so the other texts are skipped.
    if (long > FLOOR_MS) break;
  }
  const slowest = measured.toSorted((one, other) => other.long - one.long).slice(0, SLOWEST);
  const found: string[] = [];
  for (const { text: one } of slowest) {
    const growth = await growthInEachRound(run, one);
    if (growth !== undefined) found.push(`${one.name}: ${growth}`);
  }
  return found;
};
