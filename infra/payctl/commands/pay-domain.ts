/** @module Registers the hosted pages' domain for Apple Pay, at each provider that requires it. */

import { PAYMENT_SLOTS, type PaymentSlot } from '../../../shared/core/settings.ts';
import type { Installation } from '../installation/installation.ts';
import type { Report } from './report.ts';

interface DomainRow {
  readonly slot: string;
  readonly state: 'registered' | 'failed';
  readonly detail: string;
}

/**
 * Safe to repeat. Exit code 1 if PUBLIC_BASE_URL is empty, if a registration fails, or if no provider requires a
 * registration.
 */
export const registerPayDomain = async ({
  deps,
  settings,
}: Pick<Installation, 'deps' | 'settings'>): Promise<Report> => {
  const host = URL.parse(settings.PUBLIC_BASE_URL)?.host;
  if (host === undefined) return { json: { host: null, rows: [] }, lines: ['PUBLIC_BASE_URL is empty'], exitCode: 1 };
  const found = await Promise.all(PAYMENT_SLOTS.map((slot) => registeredAt(deps, slot, host)));
  const rows = found.filter((row) => row !== undefined);
  const lines = rows.map(({ slot, state, detail }) => `${slot}: ${host} ${state}${detail === '' ? '' : `: ${detail}`}`);
  const isFine = rows.length > 0 && rows.every(({ state }) => state === 'registered');
  return {
    json: { host, rows },
    lines: lines.length > 0 ? lines : ['no provider asks for a registration'],
    exitCode: isFine ? 0 : 1,
  };
};

/** @returns undefined for a closed slot or a provider without registration */
const registeredAt = async (
  { providers }: Installation['deps'],
  slot: PaymentSlot,
  host: string,
): Promise<DomainRow | undefined> => {
  const outcome = await (await providers.find(slot))?.payDomains?.register(host);
  if (!outcome) return undefined;
  if (outcome.kind !== 'done') {
    return { slot, state: 'failed', detail: 'reason' in outcome ? String(outcome.reason) : outcome.kind };
  }
  const { isActive, problem } = outcome.value;
  return isActive
    ? { slot, state: 'registered', detail: '' }
    : { slot, state: 'failed', detail: problem ?? 'Apple Pay is not active' };
};
