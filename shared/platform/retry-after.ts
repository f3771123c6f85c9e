/** @module Reads a response's Retry-After header. */

const LONGEST_SECONDS = 999_999;

/** Retry-After in seconds, rounded up. The header contains seconds or a date. @param now epoch milliseconds */
export const retryAfterSeconds = (header: string | null | undefined, now: number): number | undefined => {
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Math.min(Number(header), LONGEST_SECONDS);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1_000));
};
