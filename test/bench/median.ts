/** The median of several measurements. Of two middle values, the smaller one; 0 without values. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? 0;

/**
 * The median ratio of values measured in the same round. A machine that slows down both values has no effect.
 */
export const medianRatio = (values: readonly number[], bases: readonly number[]): number =>
  median(values.flatMap((value, round) => (bases[round] === undefined ? [] : [value / bases[round]])));

/** Runs `least` rounds, and again `least` rounds while a bound is exceeded, up to `most` in total. */
export const inRounds = async (
  { least, most }: { readonly least: number; readonly most: number },
  round: () => Promise<void> | void,
  isExceeded: () => boolean,
): Promise<void> => {
  for (let done = 0; done < most; ) {
    for (const until = Math.min(most, done + least); done < until; done += 1) await round();
    if (!isExceeded()) return;
  }
};

export const withSpread = (values: readonly number[], digits: number): string => {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)];
  return `${middle.toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
};
