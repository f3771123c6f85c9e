/** @module An update of an intent at the provider: the first call, resends, and the lookup before a cancellation. */
import { describe, expect, test } from 'vitest';
import { DomainError } from '../../shared/core/errors.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import type { IntentParts } from '../../shared/payments/create-intent.ts';
import { paymentStore } from '../../shared/payments/payment-store.ts';
import { abandonDraft, finishUpdate, makeUpdate } from '../../shared/payments/update-call.ts';
import type { ProviderPayment } from '../../shared/providers/payment-port.ts';
import { draft, payment } from '../builders/payment.ts';
import { paymentWork, reported, UNKNOWN } from '../builders/payment-work.ts';

type Answer = Outcome<ProviderPayment>;

const LIMITED: Answer = { kind: 'not_done', reason: 'rate_limited', retryAfterSeconds: 7 };
const TOO_SMALL: Answer = { kind: 'refused', reason: 'amount_too_small' };
const NOT_OPEN: Answer = { kind: 'refused', reason: 'payment_intent_unexpected_state' };
const NEW_AMOUNT = reported('created', { amountCents: 3_000 });
const OLD_AMOUNT = reported('created');
const PAID = reported('succeeded');

interface Run {
  readonly sent?: Answer;
  readonly read?: Answer;
}

/** The total or the error code, the seconds of `Retry-After`, the provider calls, and whether the draft is kept. */
type Result = readonly [number | string | undefined, number | undefined, readonly string[], 'dropped' | 'kept'];

const SENT = ['updateIntent'];
const READ = ['findPayment'];
const BOTH = [...SENT, ...READ];

const run = async (
  { sent = UNKNOWN, read = UNKNOWN }: Run,
  step: 'first call' | 'resend' | 'cancellation',
): Promise<Result> => {
  const work = await paymentWork(payment(), { updateIntent: async () => sent, findPayment: async () => read });
  const { deps } = work;
  const store = paymentStore(deps.table, deps.now);
  const provider = await deps.providers.require('provider_a', 'payments');
  const parts: IntentParts = { deps, store, provider };
  const held = await store.claimDraft(payment(), draft());
  if (!held) throw new Error('the draft was not claimed');
  const outcome = async (): Promise<number | DomainError | undefined> => {
    if (step === 'first call') return (await makeUpdate(parts, held)).totalCents;
    const left = await store.releaseDraft(held);
    if (!left) throw new Error('the draft was not released');
    if (step === 'cancellation') return (await abandonDraft(parts, left)).totalCents;
    const { payment: settled, refusal } = await finishUpdate(parts, left);
    return refusal ?? settled.totalCents;
  };
  const result = await outcome().catch((error: unknown) => {
    if (error instanceof DomainError) return error;
    throw error;
  });
  const stored = await store.loadVisible(payment().id);
  const isRefused = result instanceof DomainError;
  const says = isRefused ? result.code : result;
  // A draft that stays is free for the next function.
  expect(stored?.draftBusyUntil).toBeUndefined();
  return [says, isRefused ? result.retryAfterSeconds : undefined, work.calls, stored?.draft ? 'kept' : 'dropped'];
};

describe('the first call of an update', () => {
  test.each<[string, Run, Result]>([
    ['applies the draft', { sent: NEW_AMOUNT }, [3_000, undefined, SENT, 'dropped']],
    ['keeps the draft after a lost response', { sent: UNKNOWN }, ['PROVIDER_TIMEOUT', undefined, SENT, 'kept']],
    ['drops the draft if nothing was sent', { sent: LIMITED }, ['PROVIDER_UNAVAILABLE', 7, SENT, 'dropped']],
    ['drops a refused draft without a read', { sent: TOO_SMALL }, ['AMOUNT_TOO_SMALL', undefined, SENT, 'dropped']],
    [
      'stores the payment that was paid meanwhile',
      { sent: NOT_OPEN, read: PAID },
      ['INVALID_STATE', undefined, BOTH, 'dropped'],
    ],
    [
      'drops the draft if a read shows the former amount',
      { sent: NOT_OPEN, read: OLD_AMOUNT },
      ['INVALID_STATE', undefined, BOTH, 'dropped'],
    ],
    [
      'keeps the draft while the provider cannot be read',
      { sent: NOT_OPEN, read: UNKNOWN },
      ['PAYMENT_IN_PROGRESS', 2, BOTH, 'kept'],
    ],
  ])('%s', async (_, answers, result) => {
    expect(await run(answers, 'first call')).toEqual(result);
  });
});

describe('a resend of an update', () => {
  test.each<[string, Run, Result]>([
    ['applies the draft', { sent: NEW_AMOUNT }, [3_000, undefined, SENT, 'dropped']],
    ['keeps the draft after a lost response', { sent: UNKNOWN }, ['PAYMENT_IN_PROGRESS', 2, SENT, 'kept']],
    ['returns the retry delay that the provider requests', { sent: LIMITED }, ['PAYMENT_IN_PROGRESS', 7, SENT, 'kept']],
    [
      'applies a refused draft if the provider has its amount',
      { sent: TOO_SMALL, read: NEW_AMOUNT },
      [3_000, undefined, BOTH, 'dropped'],
    ],
    [
      'drops a refused draft if the provider has the former amount',
      { sent: TOO_SMALL, read: OLD_AMOUNT },
      ['AMOUNT_TOO_SMALL', undefined, BOTH, 'dropped'],
    ],
    [
      'keeps the reason of the refusal if the payment was paid meanwhile',
      { sent: TOO_SMALL, read: PAID },
      ['AMOUNT_TOO_SMALL', undefined, BOTH, 'dropped'],
    ],
    [
      'returns the retry delay that the provider requests in response to the read',
      { sent: TOO_SMALL, read: LIMITED },
      ['PAYMENT_IN_PROGRESS', 7, BOTH, 'kept'],
    ],
  ])('%s', async (_, answers, result) => {
    expect(await run(answers, 'resend')).toEqual(result);
  });
});

describe('a cancellation after an update with an unknown outcome', () => {
  test.each<[string, Run, Result]>([
    ['applies an update that the provider has', { read: NEW_AMOUNT }, [3_000, undefined, READ, 'dropped']],
    ['drops an update that the provider lacks', { read: OLD_AMOUNT }, [2_500, undefined, READ, 'dropped']],
    ['waits while the provider does not respond', { read: UNKNOWN }, ['PAYMENT_IN_PROGRESS', 2, READ, 'kept']],
    ['returns the retry delay that the provider requests', { read: LIMITED }, ['PAYMENT_IN_PROGRESS', 7, READ, 'kept']],
    [
      'fails if the provider has neither the amount before the update nor the amount after it',
      { read: reported('created', { amountCents: 9_999 }) },
      ['PROVIDER_ERROR', undefined, READ, 'kept'],
    ],
  ])('%s', async (_, answers, result) => {
    expect(await run(answers, 'cancellation')).toEqual(result);
  });
});
