import type { Outcome } from '../../core/outcome.ts';
import type { ProviderSlot, SlotSettings } from '../../core/settings.ts';
import type { Log } from '../../observability/logger.ts';

/** What an adapter is opened with. */
export interface AdapterOptions {
  readonly slot: ProviderSlot;
  /** The slot's settings with its secrets filled in. */
  readonly settings: SlotSettings;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  readonly log: Log;
}

/** What a method answers that the provider's `can` denies: nobody asks it, and nothing is done. */
export const notOffered = async (): Promise<Extract<Outcome<never>, { kind: 'refused' }>> => ({
  kind: 'refused',
  reason: 'not_offered',
});

/** Vendors that want two names for one: the last word is the family name, and joined again they are what was given. */
export const splitName = (name: string): readonly [given: string, family: string | undefined] => {
  const at = name.lastIndexOf(' ');
  return at > 0 && at < name.length - 1 ? [name.slice(0, at), name.slice(at + 1)] : [name, undefined];
};

export const joinName = (given: string | null | undefined, family: string | null | undefined): string | undefined =>
  [given, family].filter(Boolean).join(' ') || undefined;
