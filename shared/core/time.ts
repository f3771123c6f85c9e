/** Epoch milliseconds. Only the host has a clock; pure code gets "now" as a parameter. */
export type Instant = number;
export type Now = () => Instant;

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** ISO 8601 UTC with milliseconds; sorts correctly as text. */
export const iso = (instant: Instant): string => new Date(instant).toISOString();
export const instant = (isoText: string): Instant => Date.parse(isoText);
/** Epoch seconds, for providers and TTL attributes. */
export const epochSeconds = (at: Instant): number => Math.floor(at / SECOND_MS);
/** The time without milliseconds, for times also stored by a provider. */
export const startOfSecond = (at: Instant): Instant => epochSeconds(at) * SECOND_MS;
/** The UTC day of an ISO time, YYYY-MM-DD. */
export const utcDay = (isoText: string): string => isoText.slice(0, 10);
