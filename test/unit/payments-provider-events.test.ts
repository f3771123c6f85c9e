/** @module A provider's event about a payment: the matched payment, the new facts, and the refused changes. */
import { describe, expect, test } from 'vitest';
import { iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { putAlias } from '../../shared/platform/alias.ts';
import { organizationKey } from '../../shared/platform/keys.ts';
import type { Item } from '../../shared/platform/table.ts';
import type { InboundEventType, ProviderEvent } from '../../shared/providers/event-port.ts';
import { applyPaymentEvent, type PaymentEvent } from '../../shared/webhooks/payment-event.ts';
import { draft, NOON, payment } from '../builders/payment.ts';
import { paymentWork, reported, type Script, UNKNOWN } from '../builders/payment-work.ts';

type Type = PaymentEvent['type'];

interface Sent {
  readonly record?: VisiblePayment;
  readonly type?: Type;
  readonly object?: Partial<ProviderEvent['object']>;
  /** The time of the event in seconds after noon. */
  readonly after?: number;
  readonly slot?: PaymentEvent['slot'];
  readonly isOfInterface?: true;
  readonly script?: Script;
  readonly others?: readonly Item[];
  /** The provider's id that leads to the payment; none by default. */
  readonly alias?: { readonly externalId: string; readonly kind: 'PAY' | 'SUB' };
}

const apply = async ({ record = payment(), type = 'payment_intent.succeeded', slot = 'provider_a', ...sent }: Sent) => {
  const { object, after = 0, script = {}, others = [], alias, isOfInterface } = sent;
  const work = await paymentWork(record, script, others);
  if (alias) await putAlias(work.table, { providerId: slot, ...alias }, { kind: alias.kind, id: record.id });
  work.clock.at = NOON + MINUTE_MS;
  const event: ProviderEvent = {
    ...{ id: 'evt_1', rawType: type, type: type satisfies InboundEventType, createdAt: NOON / SECOND_MS + after },
    ...(isOfInterface && { isOfInterface }),
    object: {
      ...{ id: 'pi_1', intentId: undefined, amountCents: 2_500, currency: 'USD', attemptRef: undefined },
      ...{ failureCode: undefined, ourPaymentId: record.id, method: undefined, customer: undefined, ...object },
    },
  };
  const result = await applyPaymentEvent(work.deps, { slot, type, event });
  return { ...work, result, stored: await work.load() };
};

const claimed = (fields: Partial<VisiblePayment> = {}): VisiblePayment =>
  payment({
    status: 'processing',
    version: 2,
    attempt: 1,
    claimedAt: iso(NOON),
    reconcileAt: iso(NOON + MINUTE_MS),
    ...fields,
  });

describe('an event about a payment', () => {
  test.each([
    ['payment_intent.succeeded', 'succeeded', {}],
    ['payment_intent.failed', 'failed', { failureCode: 'do_not_honor' }],
    ['payment_intent.canceled', 'canceled', {}],
  ] as const)('applies %s, and the payment becomes %s', async (type, status, facts) => {
    const { result, stored } = await apply({ record: claimed(), type });
    expect(result).toMatchObject({
      kind: 'applied',
      status,
      payment: { status, version: 3, updatedAt: iso(NOON + MINUTE_MS) },
    });
    expect(stored).toMatchObject({ status, version: 3, cause: 'event', ...facts });
  });

  test('moves a payment that waits for its payer to processing if it is payment_intent.processing', async () => {
    const { result } = await apply({ record: claimed({ status: 'pending' }), type: 'payment_intent.processing' });
    expect(result).toMatchObject({ kind: 'applied', status: 'processing' });
  });

  test('moves an unconfirmed payment to pending if it is payment_intent.requires_action', async () => {
    const { result } = await apply({ type: 'payment_intent.requires_action' });
    expect(result).toMatchObject({ kind: 'applied', status: 'pending' });
  });

  test('stores the attempt and the failure reason that the event names', async () => {
    const { stored } = await apply({
      ...{ record: claimed({ attemptRef: 'ch_1' }), type: 'payment_intent.failed' },
      object: { attemptRef: 'ch_2', failureCode: 'expired_card' },
    });
    expect(stored).toMatchObject({ attemptRef: 'ch_2', failureCode: 'expired_card' });
    const silent = await apply({ record: claimed({ attemptRef: 'ch_1' }), object: { failureCode: 'expired_card' } });
    expect(silent.stored).toMatchObject({ attemptRef: 'ch_1', status: 'succeeded' });
    expect(silent.stored?.['failureCode']).toBeUndefined();
  });

  test('stores the id of the event’s capture, and no other id', async () => {
    const order = claimed({ providerIntentId: 'order_1', providerPaymentId: 'order_1' });
    const { stored } = await apply({ record: order, object: { id: 'capture_1', intentId: 'order_1' } });
    expect(stored).toMatchObject({ providerIntentId: 'order_1', providerPaymentId: 'capture_1' });
    const captured = { ...order, providerPaymentId: 'capture_1' };
    const ofOrder = await apply({ record: captured, object: { id: 'order_1' } });
    expect(ofOrder.result).toMatchObject({ payment: { providerPaymentId: 'capture_1' } });
  });

  test('stores the method and the fee that it contains, with the status or later', async () => {
    const details = { type: 'card', cardBrand: 'visa', lastFour: '4242' } as const;
    const settlement = { feeCents: 103, netCents: 2_397, currency: 'USD' };
    const first = await apply({ record: claimed(), object: { facts: { details } } });
    expect(first.result).toMatchObject({ kind: 'applied', payment: { status: 'succeeded', details } });
    const paid = payment({ status: 'succeeded', version: 3, attempt: 1, details });
    const later = await apply({ record: paid, object: { facts: { settlement } } });
    expect(later.result).toMatchObject({ kind: 'applied', status: 'succeeded', payment: { details, settlement } });
    expect(later.stored).toMatchObject({ cause: 'facts', version: 4 });
    const again = await apply({ record: { ...paid, settlement }, object: { facts: { settlement } } });
    expect(again.result).toMatchObject({ kind: 'ignored', reason: 'no change' });
  });

  test('stores the method of a failed payment, and a pending lookup stays due', async () => {
    const asked = { reconcileAt: iso(NOON + 5 * MINUTE_MS), reconcileStep: 0, factsAt: iso(NOON + 10 * MINUTE_MS) };
    const record = claimed({ status: 'failed', failureCode: 'do_not_honor', attemptRef: 'ch_1', ...asked });
    const facts = { details: { type: 'card', lastFour: '4242' } } as const;
    const { result, stored, dueAt } = await apply({
      ...{ record, type: 'payment_intent.failed' },
      object: { attemptRef: 'ch_1', facts },
    });
    expect(result).toMatchObject({ kind: 'applied', payment: facts });
    expect(stored).toMatchObject({ reconcileAt: asked.reconcileAt, reconcileStep: 0, version: 3 });
    expect(await dueAt()).toBe(NOON + 5 * MINUTE_MS);
  });

  test('with another settlement triggers one read, because an older event may come later', async () => {
    const settlement = { feeCents: 103, netCents: 2_397, currency: 'USD' };
    const record = payment({ status: 'succeeded', version: 3, attempt: 1, settlement });
    const older = { facts: { settlement: { feeCents: 60, netCents: 2_440, currency: 'USD' } } };
    const { result, stored, dueAt } = await apply({ record, object: older });
    expect(result).toMatchObject({ kind: 'ignored', reason: 'another settlement', payment: { settlement } });
    expect(stored).toMatchObject({ version: 3, factsAt: iso(NOON + MINUTE_MS), factLooks: 2 });
    expect(await dueAt()).toBe(NOON + MINUTE_MS);
    const later = iso(NOON + 5 * MINUTE_MS);
    const pending = await apply({ record: { ...record, factsAt: later }, object: older });
    expect(pending.stored).toMatchObject({ factsAt: later });
  });

  test('of another failed attempt triggers a lookup, and stores nothing', async () => {
    const [details, decline] = [{ type: 'card', lastFour: '4242' } as const, { providerCode: 'insufficient_funds' }];
    const record = claimed({ status: 'failed', attemptRef: 'ch_1', reconcileAt: undefined, details, decline });
    const { result, stored, dueAt } = await apply({
      ...{ record, type: 'payment_intent.failed' },
      object: { facts: { decline: { providerCode: 'payment_intent_authentication_failure' } } },
    });
    expect(result).toMatchObject({ kind: 'ignored', reason: 'another attempt' });
    expect(stored).toMatchObject({ decline, version: 2 });
    expect(await dueAt()).toBe(NOON + MINUTE_MS);
  });

  test('stores no facts if it is older than the claim', async () => {
    const paid = payment({ status: 'succeeded', version: 3, attempt: 1, claimedAt: iso(NOON) });
    const { result, stored } = await apply({
      record: paid,
      after: -1,
      object: { facts: { details: { type: 'card' } } },
    });
    expect(result).toMatchObject({ kind: 'ignored', reason: 'stale' });
    expect(stored).not.toHaveProperty('details');
  });

  test('is ignored if it contains nothing new', async () => {
    const { result, stored } = await apply({ record: payment({ status: 'succeeded' }) });
    expect(result).toMatchObject({ kind: 'ignored', reason: 'no change', payment: { status: 'succeeded' } });
    expect(stored).toMatchObject({ version: 1 });
  });

  test('triggers an immediate lookup if it is older than the claim, and changes nothing', async () => {
    const { result, stored, dueAt } = await apply({ record: claimed(), after: -1 });
    expect(result).toMatchObject({ kind: 'ignored', reason: 'stale' });
    expect([stored?.['status'], await dueAt()]).toEqual(['processing', NOON + MINUTE_MS]);
    const settled = await apply({ record: claimed({ status: 'succeeded' }), type: 'payment_intent.failed', after: -1 });
    expect([settled.result.kind, await settled.dueAt()]).toEqual(['ignored', undefined]);
  });
});

describe('the payment of an event', () => {
  const other = { ourPaymentId: 'pay_00000000000000000000000f' };

  test.each(['pi_1', 'order_1'])(
    'is found by the provider’s id %s, even if the event names another payment id of ours',
    async (externalId) => {
      const { result } = await apply({
        ...{ alias: { externalId, kind: 'PAY' }, object: { ...other, id: 'pi_1', intentId: 'order_1' } },
      });
      expect(result).toMatchObject({ kind: 'applied', status: 'succeeded' });
    },
  );

  test('is matched by the provider’s id, even if its record does not contain that id', async () => {
    const { result } = await apply({ alias: { externalId: 'ch_9', kind: 'PAY' }, object: { ...other, id: 'ch_9' } });
    expect(result).toMatchObject({ kind: 'applied', status: 'succeeded' });
  });

  test('is not found by the id of another kind of record', async () => {
    const { result } = await apply({ alias: { externalId: 'pi_1', kind: 'SUB' }, object: other });
    expect(result).toEqual({ kind: 'early', isUnnamed: false });
  });

  test('counts as early if it is not stored yet, and as unnamed if the event has no id of ours', async () => {
    const named = await apply({ object: other });
    expect(named.result).toEqual({ kind: 'early', isUnnamed: false });
    const unnamed = await apply({ object: { ourPaymentId: undefined } });
    expect(unnamed.result).toEqual({ kind: 'early', isUnnamed: true });
    const contract = await apply({ object: { ourPaymentId: undefined }, isOfInterface: true });
    expect(contract.result).toEqual({ kind: 'early', isUnnamed: false });
  });

  test.each([
    ['the provider differs', { slot: 'provider_b' }, 'provider differs'],
    ['neither id is the payment’s', { object: { id: 'pi_9', intentId: 'order_9' } }, 'provider object differs'],
    ['the event’s only id is not the payment’s', { object: { id: 'pi_9' } }, 'provider object differs'],
  ] as const)('is not accepted from our id alone if %s', async (_, sent, reason) => {
    const { result, stored } = await apply(sent);
    expect(result).toMatchObject({ kind: 'quarantined', reason, payment: { status: 'created' } });
    expect(stored).toMatchObject({ status: 'created', version: 1 });
  });

  test.each([
    { id: 'pi_1', intentId: 'order_9' },
    { id: 'capture_1', intentId: 'pi_1' },
    { id: 'capture_1', intentId: undefined },
  ])('is matched by our id if one of the provider’s ids in the event is the payment’s, too: %j', async (object) => {
    const { result } = await apply({ record: payment({ providerPaymentId: 'capture_1' }), object });
    expect(result).toMatchObject({ kind: 'applied' });
  });
});

describe('an event with another amount', () => {
  test.each([
    ['amount differs', { amountCents: 2_501 }],
    ['currency differs', { currency: 'EUR' }],
  ])('is quarantined: %s', async (reason, object) => {
    const { result, stored } = await apply({ record: claimed(), object });
    expect(result).toMatchObject({ kind: 'quarantined', reason, payment: { status: 'processing' } });
    expect(stored).toMatchObject({ status: 'processing', version: 2 });
  });

  test('applies the open update and the status if its amount equals the updated amount', async () => {
    const record = payment({ status: 'pending', draft: draft(), draftVersion: 1, version: 2 });
    const { result, stored } = await apply({ record, object: { amountCents: 3_000 } });
    expect(result).toMatchObject({ kind: 'applied', payment: { totalCents: 3_000, status: 'succeeded' } });
    expect(stored).toMatchObject({ totalCents: 3_000, status: 'succeeded' });
    expect(stored?.['draft']).toBeUndefined();
    const before = await apply({ record });
    expect(before.stored).toMatchObject({ totalCents: 2_500, status: 'succeeded' });
  });
});

describe('an event that contradicts a settled payment', () => {
  const canceled = payment({ status: 'canceled', version: 3 });
  const reads = (outcome: Awaited<ReturnType<NonNullable<Script['findPayment']>>>): Script => ({
    findPayment: async () => outcome,
  });
  const REASON = 'canceled here, succeeded by the event';

  test('is applied with the values that the provider reports if the provider confirms it', async () => {
    const report = reported('succeeded', { paymentId: 'capture_1', attemptRef: 'ch_9' });
    const { result, stored, lines, opened } = await apply({ record: canceled, script: reads(report) });
    expect(opened).toEqual(['provider_a for payments']);
    expect(result).toMatchObject({ kind: 'applied', status: 'succeeded', payment: { status: 'succeeded' } });
    expect(stored).toMatchObject({
      providerPaymentId: 'capture_1',
      attemptRef: 'ch_9',
      anomaly: REASON,
      cause: 'event',
    });
    expect(lines).toMatchObject([
      {
        ...{ level: 'error', message: 'payment anomaly' },
        fields: { payment_id: canceled.id, provider: 'provider_a', reason: REASON },
      },
    ]);
  });

  test.each([
    ['no longer has the payment', { kind: 'refused', reason: 'resource_missing' }],
    ['reports another amount', reported('succeeded', { amountCents: 1 })],
  ] as const)('is quarantined if the provider %s', async (_, outcome) => {
    const { result, stored, lines } = await apply({ record: canceled, script: reads(outcome) });
    expect(result).toMatchObject({ kind: 'quarantined', reason: REASON, payment: { status: 'canceled' } });
    expect([stored?.['version'], lines.length]).toEqual([3, 1]);
  });

  test.each([
    ['confirms the record', 'canceled', 0],
    ['reports a status that is not later', 'failed', 1],
  ] as const)('is ignored if the provider %s', async (_, status, anomalies) => {
    const { result, stored, lines } = await apply({ record: canceled, script: reads(reported(status)) });
    expect(result).toMatchObject({ kind: 'ignored', reason: `anomaly: ${REASON}`, payment: { status: 'canceled' } });
    expect([stored?.['version'], lines.length]).toEqual([3, anomalies]);
  });

  test.each([UNKNOWN, { kind: 'not_done', reason: 'unreachable' }] as const)(
    'is tried again after %j',
    async (outcome) => {
      await expect(apply({ record: canceled, script: reads(outcome) })).rejects.toThrow('cannot be read now');
    },
  );
});

describe('an event that reports the payer’s approval', () => {
  const approval = { object: { awaitsCapture: true }, type: 'payment_intent.requires_action', after: 1 } as const;
  const captures: Script = { confirmIntent: async () => reported('succeeded') };

  test('captures the payment once', async () => {
    const { result, stored, calls } = await apply({ ...approval, script: captures });
    expect(result).toMatchObject({ kind: 'applied', status: 'succeeded', payment: { status: 'succeeded' } });
    expect([stored?.['status'], stored?.['attempt'], calls]).toEqual(['succeeded', 1, ['confirmIntent']]);
  });

  test('leaves the payment pending, with a lookup in two minutes, if the capture was not made', async () => {
    const script: Script = { confirmIntent: async () => ({ kind: 'not_done', reason: 'unreachable' }) };
    const { result, dueAt } = await apply({ ...approval, script });
    expect(result).toMatchObject({ kind: 'applied', status: 'pending' });
    expect(await dueAt()).toBe(NOON + 3 * MINUTE_MS);
  });

  test('captures nothing for an organization that was deleted', async () => {
    const record = payment({ organizationId: 'org_1' });
    const gone = await apply({ ...approval, record, script: captures });
    expect(gone.result).toMatchObject({ kind: 'ignored', reason: 'the organization was deleted' });
    expect([gone.calls, gone.stored?.['version']]).toEqual([[], 1]);
    const there = await apply({ ...approval, record, script: captures, others: [{ ...organizationKey('org_1') }] });
    expect(there.result).toMatchObject({ kind: 'applied', status: 'succeeded' });
  });

  test('is quarantined if it approves another amount', async () => {
    const object = { awaitsCapture: true, amountCents: 1 } as const;
    const { result, calls } = await apply({ ...approval, object, script: captures });
    expect([result.kind, calls]).toEqual(['quarantined', []]);
  });

  test.each([
    ['is succeeded', claimed({ status: 'succeeded' }), undefined],
    ['is processing', claimed(), NOON + MINUTE_MS],
    ['stale', claimed({ status: 'failed', claimedAt: iso(NOON + SECOND_MS), reconcileAt: undefined }), undefined],
  ])('is ignored: %s', async (reason, record, due) => {
    const { result, calls, dueAt } = await apply({ ...approval, record, script: captures });
    expect(result).toMatchObject({ kind: 'ignored', reason, payment: { status: record.status } });
    expect([calls, await dueAt()]).toEqual([[], due]);
  });

  test('triggers an immediate lookup of a pending payment if the event is older than the claim', async () => {
    const record = claimed({
      status: 'pending',
      claimedAt: iso(NOON + 2 * SECOND_MS),
      reconcileAt: iso(NOON + 5 * MINUTE_MS),
    });
    const { result, dueAt } = await apply({ ...approval, record });
    expect([result.kind, await dueAt()]).toEqual(['ignored', NOON + MINUTE_MS]);
  });
});

describe('an approval during an update without a response', () => {
  const approval = { type: 'payment_intent.requires_action', after: 1 } as const;
  const record = payment({ draft: draft(), draftVersion: 1, version: 2, reconcileAt: iso(NOON + 5 * MINUTE_MS) });
  const object = { awaitsCapture: true, amountCents: 3_000 } as const;

  test('captures the updated amount once the update is finished', async () => {
    const { result, stored, calls, opened } = await apply({
      ...{ ...approval, record, object },
      script: {
        updateIntent: async () => reported('created', { amountCents: 3_000 }),
        confirmIntent: async ({ amountCents }) => reported('succeeded', { amountCents }),
      },
    });
    expect(calls).toEqual(['updateIntent', 'confirmIntent']);
    expect(new Set(opened)).toEqual(new Set(['provider_a for payments']));
    expect(result).toMatchObject({ kind: 'applied', status: 'succeeded' });
    expect(stored).toMatchObject({ totalCents: 3_000, status: 'succeeded' });
  });

  test('is kept for a later retry while the update cannot be finished', async () => {
    const { result, calls } = await apply({
      ...approval,
      record,
      object,
      script: { updateIntent: async () => UNKNOWN },
    });
    expect([result, calls]).toEqual([{ kind: 'early' }, ['updateIntent']]);
    const busy = await apply({ ...approval, object, record: { ...record, draftBusyUntil: iso(NOON + 5 * MINUTE_MS) } });
    expect([busy.result, busy.calls]).toEqual([{ kind: 'early' }, []]);
  });

  test('fails if the provider has neither the old amount nor the new one', async () => {
    const script: Script = {
      updateIntent: async () => ({ kind: 'refused', reason: 'order_not_open' }),
      findPayment: async () => reported('created', { amountCents: 1 }),
    };
    await expect(apply({ ...approval, record, object, script })).rejects.toMatchObject({ code: 'PROVIDER_ERROR' });
  });

  test('fails if the update throws an unexpected error', async () => {
    const script = { updateIntent: () => Promise.reject(new TypeError('a bug')) };
    await expect(apply({ ...approval, record, object, script })).rejects.toThrow('a bug');
  });
});
