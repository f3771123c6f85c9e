/** @module Lookups of a hold's capture or release with an unknown outcome. */
import { describe, expect, test } from 'vitest';
import { iso, MINUTE_MS } from '../../shared/core/time.ts';
import { runDuePayment } from '../../shared/payments/run-payment-due.ts';
import { NOON, payment } from '../builders/payment.ts';
import { paymentWork, reported } from '../builders/payment-work.ts';

const REFUSED = { kind: 'refused', reason: 'PENDING_CAPTURE' } as const;
const held = (capturableCents: number) =>
  reported('requires_capture', { hold: { authorizedCents: 2_500, capturableCents, captureBefore: undefined } });
const CALLS = {
  release: { kind: 'release', claimedAt: iso(NOON) },
  capture: { kind: 'capture', totalCents: 2_500, taxCents: 0, discountCents: 0, claimedAt: iso(NOON) },
} as const;

interface Looked {
  readonly kind: 'release' | 'capture';
  readonly at: number;
  /** The remaining amount of the hold at each read. */
  readonly left: readonly number[];
}

const lookAt = async ({ kind, at, left }: Looked) => {
  const record = payment({
    ...{ status: 'requires_capture', captureMethod: 'manual', authorizedCents: 2_500, attempt: 1, version: 3 },
    ...{ holdCall: CALLS[kind], reconcileAt: iso(NOON + MINUTE_MS), reconcileStep: 0 },
  });
  const reads = [...left];
  const refuse = async () => REFUSED;
  const work = await paymentWork(record, {
    findPayment: async () => held(reads.shift() ?? 0),
    holds: { takes: () => true, capture: refuse, release: refuse },
  });
  work.clock.at = NOON + at;
  const result = await runDuePayment(work.deps, record.id);
  return { result, stored: await work.load(), lines: work.lines };
};

describe.each(['release', 'capture'] as const)('a %s with an unknown outcome', (kind) => {
  test('fails if the provider refuses it, even if another capture has used up the hold', async () => {
    const { stored } = await lookAt({ kind, at: MINUTE_MS, left: [2_500, 0] });
    expect(stored?.['holdCall']).toBeUndefined();
    expect(stored).toMatchObject({
      status: 'requires_capture',
      holdFailure: { call: kind, reason: 'not_done' },
    });
  });

  test('stays claimed while nothing of the hold is left, and warns after half an hour', async () => {
    const early = await lookAt({ kind, at: 30 * MINUTE_MS - 1, left: [0] });
    expect([early.result, early.lines]).toEqual(['still under way', []]);
    const late = await lookAt({ kind, at: 30 * MINUTE_MS, left: [0] });
    expect(late.stored?.['holdCall']).toMatchObject({ kind });
    expect(late.lines).toMatchObject([{ message: 'payment stuck', fields: { reason: 'outcome_unknown' } }]);
  });
});
