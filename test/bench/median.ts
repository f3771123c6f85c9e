/** The middle of several measurements, and how far they lie apart. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? 0;

export const withSpread = (values: readonly number[], digits: number): string => {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)];
  return `${middle.toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
};
