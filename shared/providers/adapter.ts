/** @module The options of every adapter, and shared conversions of a vendor's names, times and lists. */

import type { Log } from '../core/logger.ts';
import type { Outcome } from '../core/outcome.ts';
import type { ProviderSlot, SlotSettings } from '../core/settings.ts';
import type { Fetch } from '../platform/fetch.ts';

export interface AdapterOptions {
  readonly slot: ProviderSlot;
  readonly settings: SlotSettings;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
  readonly log: Log;
}

/** The parts of a comma-separated setting, such as several secrets. */
export const listed = (setting: string): readonly string[] =>
  setting
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Whole epoch seconds of a provider's ISO time. */
export const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1_000);

export const oldestFirst = <T extends { readonly createdAt: number }>(found: readonly T[]): readonly T[] =>
  found.toSorted((a, b) => a.createdAt - b.createdAt);

/** Maps a provider's words to the service's words. A word without an entry has no equivalent here. */
export const wordTable = <T>(words: Readonly<Record<string, T>>): ReadonlyMap<string, T> =>
  new Map(Object.entries(words));

/** A stub for a method whose capability the provider lacks. The service never calls it. */
export const notOffered = async (): Promise<Extract<Outcome<never>, { kind: 'refused' }>> => ({
  kind: 'refused',
  reason: 'not_offered',
});

/**
 * Splits a name for vendors that require two names. The last word is the family name; `joinName` restores the input.
 */
export const splitName = (name: string): readonly [given: string, family: string | undefined] => {
  const at = name.lastIndexOf(' ');
  return at > 0 && at < name.length - 1 ? [name.slice(0, at), name.slice(at + 1)] : [name, undefined];
};

export const joinName = (given: string | null | undefined, family: string | null | undefined): string | undefined =>
  [given, family].filter(Boolean).join(' ') || undefined;
