/** @module The calls and the payer at each step when a subscription moves to another customer at its provider. */
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { DAY_MS, epochSeconds, HOUR_MS, type Instant, iso, MINUTE_MS } from '../../shared/core/time.ts';
import type { HeldMethod } from '../../shared/payment-methods/usable-method.ts';
import { findAlias } from '../../shared/platform/alias.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type {
  ProviderInvoice,
  ProviderSubscription,
  SubscriptionsPort,
} from '../../shared/providers/subscription-port.ts';
import { lookUpTransfer, startTransfer } from '../../shared/subscriptions/at-provider/transfer.ts';
import type { BillingDeps } from '../../shared/subscriptions/billing/biller.ts';
import {
  type Subscription,
  subscriptionOf,
  subscriptionShape,
} from '../../shared/subscriptions/record/subscription.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { DUNNING, subscription } from '../builders/subscription.ts';

const MONTH_END = NOON + 31 * DAY_MS;
const PAID_UNTIL = iso(MONTH_END);

const running = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({
    ...{ billingOwner: 'provider', status: 'active', version: 3, providerSubscriptionId: 'sub_1' },
    ...{
      providerGeneration: 1,
      currentPeriodEnd: PAID_UNTIL,
      paidUntil: PAID_UNTIL,
      activeSince: iso(NOON),
      ...fields,
    },
  });

const METHOD: HeldMethod = {
  ...{ paymentMethodId: 'pmt_b', methodRef: 'pm_b', providerCustomerId: 'cus_b' },
  customerId: 'cust_00000000000000000000000b',
};

const at = (fields: Partial<ProviderSubscription> = {}): ProviderSubscription => ({
  ...{ subscriptionId: 'sub_1', ourSubscriptionId: subscription().id, status: 'active' },
  ...{ currentPeriodStart: epochSeconds(NOON), currentPeriodEnd: epochSeconds(MONTH_END), trialEnd: undefined },
  ...{ isBridge: false, cancelAtPeriodEnd: false, cancelAt: null, isUnpaid: false, price: undefined },
  ...{ methodId: 'pm_1', isIncomplete: false, latestInvoice: undefined, owed: [], ...fields },
});
const invoice = (fields: Partial<ProviderInvoice> = {}): ProviderInvoice => ({
  ...{ invoiceId: 'in_1', intentId: 'pi_1', subscriptionId: 'sub_1', status: 'succeeded', amountCents: 1_900 },
  ...{ currency: 'USD', periodStart: epochSeconds(NOON), periodEnd: epochSeconds(MONTH_END), attempts: 1 },
  ...{ failureCode: undefined, nextAttempt: null, ...fields },
});
const done = <T>(value: T): { readonly kind: 'done'; readonly value: T } => ({ kind: 'done', value });
const UNKNOWN: Outcome<never> = { kind: 'unknown', reason: 'timeout' };
const AWAY: Outcome<never> = { kind: 'not_done', reason: 'unreachable' };
const refused = (reason: string): Outcome<never> => ({ kind: 'refused', reason });

type Answer = Outcome<unknown> | ((input: unknown) => Outcome<unknown>);
type Script = Partial<Record<keyof SubscriptionsPort, Answer>>;

/** The successor at the provider, which is free until the end of the paid time. */
const SUCCESSOR = at({ ...{ subscriptionId: 'sub_2', status: 'trialing', isBridge: true, methodId: 'pm_b' } });
const WORKS: Script = {
  pause: done(at({ status: 'paused' })),
  create: done(SUCCESSOR),
  find: done(SUCCESSOR),
  findOurs: done([]),
  cancel: done({ subscriptionId: 'sub_1', owed: [] }),
  resume: done(at()),
  scheduleCancel: done(SUCCESSOR),
  findPaid: done([]),
  labelPayment: done({ intentId: 'pi_1' }),
};

const service = async (record: Subscription, script: Script = {}, now: Instant = NOON + HOUR_MS) => {
  const { table } = memoryTable({ now: () => now });
  await table.put(recordItem(subscriptionShape, record));
  const calls: { readonly name: string; readonly input: unknown }[] = [];
  const outcomes: Script = { ...WORKS, ...script };
  const port = Object.fromEntries(
    Object.keys(WORKS).map((name) => [
      name,
      async (input: unknown) => {
        calls.push({ name, input });
        const outcome = outcomes[name as keyof Script];
        return typeof outcome === 'function' ? outcome(input) : outcome;
      },
    ]),
  );
  const provider = { subscriptions: port };
  const providers = { find: async () => provider, require: async () => provider };
  const { log, lines } = logLines();
  const deps = { table, now: () => now, log, dunning: DUNNING, providers } as unknown as BillingDeps;
  return {
    deps,
    table,
    lines,
    names: () => calls.map(({ name }) => name),
    inputOf: (name: string) => calls.find((call) => call.name === name)?.input,
    load: async (): Promise<Subscription | undefined> => {
      const item = await table.get({ pk: `SUB#${record.id}`, sk: 'SUB' });
      return item && subscriptionOf(item);
    },
    dueAt: async () => (await table.get({ pk: `SUB#${record.id}`, sk: 'SUB' }))?.['due_at'],
  };
};

/** The same subscription during its transfer. */
const moving = (fields: Partial<Subscription> = {}, claimedAt: Instant = NOON + HOUR_MS): Subscription =>
  running({
    providerGeneration: 2,
    transfer: {
      ...{ paymentMethodId: 'pmt_b', methodRef: 'pm_b', providerCustomerId: 'cus_b', customerId: METHOD.customerId },
      ...{ freeUntil: PAID_UNTIL, claimedAt: iso(claimedAt), lookAt: iso(claimedAt + MINUTE_MS) },
    },
    ...fields,
  });
const ID = subscription().id;
const MAY_CHARGE = { mayCharge: true };
const MAY_NOT_CHARGE = { mayCharge: false };

describe('a transfer', () => {
  test('pauses the former subscription, creates its successor, and cancels the former subscription, each under its own key', async () => {
    const { deps, names, inputOf, load, table } = await service(running());
    const moved = await startTransfer(deps, running(), { method: METHOD });
    expect(names()).toEqual(['pause', 'create', 'find', 'cancel']);
    expect(inputOf('pause')).toEqual({ subscriptionId: 'sub_1', idempotencyKey: `${ID}:transfer:2:hold` });
    expect(inputOf('create')).toMatchObject({
      ...{ ourSubscriptionId: ID, customerId: 'cus_b', methodId: 'pm_b', isBridge: true, isAttended: false },
      ...{ trialEnd: epochSeconds(MONTH_END), idempotencyKey: `${ID}:create:2` },
    });
    expect(inputOf('find')).toBe('sub_2');
    expect(inputOf('cancel')).toEqual({ subscriptionId: 'sub_1', idempotencyKey: `${ID}:transfer:2:cancel` });
    const after = {
      ...{ status: 'active', reason: 'method_changed', providerSubscriptionId: 'sub_2', formerProviderIds: ['sub_1'] },
      ...METHOD,
      ...{ transfer: undefined, held: undefined, providerGeneration: 2, paidUntil: PAID_UNTIL },
    };
    expect(moved).toMatchObject(after);
    expect(await load()).toMatchObject({ providerSubscriptionId: 'sub_2', paymentMethodId: 'pmt_b' });
    expect(await findAlias(table, 'provider_a', 'sub_2')).toEqual({ kind: 'SUB', id: ID });
  });

  test('keeps the record’s customer if the method names no customer', async () => {
    const { deps } = await service(running());
    const moved = await startTransfer(deps, running(), { method: { ...METHOD, customerId: undefined } });
    expect(moved.customerId).toBe(running().customerId);
  });

  test('starts from the first generation if the record names no generation', async () => {
    const { deps, inputOf } = await service(running({ providerGeneration: undefined }));
    await startTransfer(deps, running({ providerGeneration: undefined }), { method: METHOD });
    expect(inputOf('pause')).toMatchObject({ idempotencyKey: `${ID}:transfer:2:hold` });
  });

  test('resumes a subscription that was paused for a missing method', async () => {
    const held = running({ status: 'paused', held: { finalAt: iso(MONTH_END) }, paymentMethodId: undefined });
    const { deps } = await service(held);
    expect(await startTransfer(deps, held, { method: METHOD })).toMatchObject({ held: undefined, status: 'active' });
  });

  test.each<[string, string, Partial<Subscription>]>([
    ['is canceled', 'INVALID_STATE', { status: 'canceled' }],
    ['is paused by its payer', 'INVALID_STATE', { status: 'paused' }],
    ['is being transferred', 'PAYMENT_IN_PROGRESS', { transfer: moving().transfer }],
    ['has no subscription at its provider yet', 'PAYMENT_IN_PROGRESS', { providerSubscriptionId: undefined }],
  ])('is refused if the subscription %s', async (...[, code, fields]) => {
    const { deps, names } = await service(running(fields));
    await expect(startTransfer(deps, running(fields), { method: METHOD })).rejects.toMatchObject({ code });
    expect(names()).toEqual([]);
  });

  test('is claimed only under the conditions that prove the caller’s right', async () => {
    const { deps, names } = await service(running());
    const onlyIf = [{ check: { pk: 'ORG#1', sk: 'ORG' }, if: [{ exists: true } as const] }];
    await expect(startTransfer(deps, running(), { method: METHOD, onlyIf })).rejects.toThrow();
    expect(names()).toEqual([]);
  });

  test('has no step to continue or abort after its end', async () => {
    const { deps, names } = await service(running());
    expect(await lookUpTransfer(deps, running(), MAY_CHARGE)).toBe('active');
    expect(await lookUpTransfer(deps, running(), MAY_NOT_CHARGE)).toBe('active');
    expect(names()).toEqual([]);
  });
});

describe('the successor of a transfer', () => {
  const trialEnd = async (fields: Partial<Subscription>, former: Partial<ProviderSubscription> = {}) => {
    const { deps, inputOf } = await service(running(fields), { pause: done(at({ status: 'paused', ...former })) });
    await startTransfer(deps, running(fields), { method: METHOD });
    return (inputOf('create') as { readonly trialEnd: number | undefined }).trialEnd;
  };
  const later = NOON + 62 * DAY_MS;

  test('is charged immediately if no paid time remains', async () => {
    expect(await trialEnd({ paidUntil: undefined })).toBeUndefined();
    expect(await trialEnd({ paidUntil: iso(NOON + HOUR_MS) })).toBeUndefined();
    expect(await trialEnd({ paidUntil: iso(NOON + HOUR_MS + 1_000) })).toBe(epochSeconds(NOON + HOUR_MS + 1_000));
  });

  test('is free until the end of the trial, which no payment covers', async () => {
    const trial = {
      status: 'trialing',
      period: -1,
      paidUntil: undefined,
      currentPeriodEnd: iso(NOON + 5 * DAY_MS),
    } as const;
    expect(await trialEnd(trial)).toBe(epochSeconds(NOON + 5 * DAY_MS));
    const { deps, inputOf } = await service(running(trial));
    await startTransfer(deps, running(trial), { method: METHOD });
    expect(inputOf('create')).toMatchObject({ isBridge: false });
  });

  test('is free until the end of a later period that was paid for the former subscription in the meantime', async () => {
    const renewed = {
      latestInvoice: invoice({ periodStart: epochSeconds(MONTH_END), periodEnd: epochSeconds(later) }),
    };
    expect(await trialEnd({}, renewed)).toBe(epochSeconds(later));
    const older = { latestInvoice: invoice({ periodEnd: epochSeconds(NOON + DAY_MS) }) };
    expect(await trialEnd({}, older)).toBe(epochSeconds(MONTH_END));
    const unpaid = { latestInvoice: invoice({ status: 'failed', periodEnd: epochSeconds(later) }) };
    expect(await trialEnd({}, unpaid)).toBe(epochSeconds(MONTH_END));
  });

  test('ends with its period if the former subscription was scheduled for cancellation', async () => {
    const ending = running({ cancelAtPeriodEnd: true });
    const { deps, names, inputOf } = await service(ending);
    await startTransfer(deps, ending, { method: METHOD });
    expect(names()).toEqual(['pause', 'create', 'scheduleCancel', 'find', 'cancel']);
    expect(inputOf('scheduleCancel')).toEqual({
      ...{ subscriptionId: 'sub_2', idempotencyKey: `${ID}:transfer:2:end`, cancel: true },
    });
  });

  test('replaces the former subscription even if the successor was charged and then canceled at the provider', async () => {
    const ending = running({ cancelAtPeriodEnd: true });
    const charged = at({ ...SUCCESSOR, status: 'canceled', latestInvoice: invoice({ subscriptionId: 'sub_2' }) });
    const script = { scheduleCancel: refused('resource_missing'), find: done(charged) };
    const { deps, names } = await service(ending, script);
    await startTransfer(deps, ending, { method: METHOD }).catch(() => undefined);
    expect(names().slice(0, 5)).toEqual(['pause', 'create', 'scheduleCancel', 'find', 'cancel']);
  });

  test('keeps the transfer open if the end of the successor cannot be scheduled', async () => {
    const ending = running({ cancelAtPeriodEnd: true });
    const { deps, load, names } = await service(ending, { scheduleCancel: UNKNOWN });
    await expect(startTransfer(deps, ending, { method: METHOD })).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT' });
    expect((await load())?.transfer).toBeDefined();
    expect(names()).not.toContain('cancel');
  });

  test('counts as created if it cannot be read', async () => {
    const { deps } = await service(running(), { find: UNKNOWN });
    expect(await startTransfer(deps, running(), { method: METHOD })).toMatchObject({ providerSubscriptionId: 'sub_2' });
  });
});

describe('a transfer that meets an obstacle at its provider', () => {
  test.each<[string, string, Script]>([
    [
      'the method is declined',
      'PAYMENT_DECLINED',
      { create: { kind: 'declined', code: 'expired_card', attemptRef: 'ch_1' } },
    ],
    ['the provider is unreachable at the first run', 'PROVIDER_UNAVAILABLE', { create: AWAY }],
    ['the former subscription cannot be paused', 'PROVIDER_UNAVAILABLE', { pause: AWAY }],
    [
      'an invoice of the former subscription is being collected',
      'PAYMENT_IN_PROGRESS',
      { pause: done(at({ latestInvoice: invoice({ status: 'processing' }) })), find: done(at()) },
    ],
    [
      'an invoice of the former subscription waits for its payer',
      'PAYMENT_IN_PROGRESS',
      {
        pause: done(
          at({ owed: [invoice({ status: 'pending', nextAction: { type: 'use_provider_sdk', url: undefined } })] }),
        ),
        find: done(at()),
      },
    ],
    [
      'the successor was canceled before its first charge',
      'INVALID_STATE',
      { find: done(at({ ...SUCCESSOR, status: 'canceled' })) },
    ],
  ])('is aborted, and the former subscription collects again: %s', async (...[, code, script]) => {
    const { deps, names, inputOf, load } = await service(running(), script);
    await expect(startTransfer(deps, running(), { method: METHOD })).rejects.toMatchObject({ code });
    expect(names()).toContain('resume');
    expect(names()).not.toContain('cancel');
    expect(inputOf('resume')).toEqual({
      ...{ subscriptionId: 'sub_1', idempotencyKey: `${ID}:transfer:2:release`, inNewPeriod: false },
    });
    const stored = await load();
    expect([stored?.transfer, stored?.paymentMethodId, stored?.providerSubscriptionId]).toEqual([
      undefined,
      running().paymentMethodId,
      'sub_1',
    ]);
  });

  test('names the reason of the decline', async () => {
    const { deps } = await service(running(), {
      create: { kind: 'declined', code: 'expired_card', attemptRef: 'ch_1' },
    });
    const failed = startTransfer(deps, running(), { method: METHOD });
    await expect(failed).rejects.toMatchObject({ details: { decline_code: 'expired_card' } });
  });

  test('continues despite a pending invoice if the payer needs no action', async () => {
    const script = { pause: done(at({ status: 'paused', owed: [invoice({ status: 'pending' })] })) };
    const { deps, names } = await service(running(), script);
    await startTransfer(deps, running(), { method: METHOD }).catch(() => undefined);
    expect(names()).toContain('create');
  });

  test('does not resume collection if collection was already paused for a missing method', async () => {
    const held = running({ status: 'paused', held: { finalAt: iso(MONTH_END) } });
    const { deps, names, load } = await service(held, { create: AWAY });
    await expect(startTransfer(deps, held, { method: METHOD })).rejects.toMatchObject({ code: 'PROVIDER_UNAVAILABLE' });
    expect(names()).toEqual(['pause', 'create']);
    const stored = await load();
    expect([stored?.held, stored?.transfer]).toEqual([{ finalAt: iso(MONTH_END) }, undefined]);
  });

  test('is finished if the former subscription has ended and its successor is found', async () => {
    const { deps, names } = await service(running(), { pause: refused('canceled'), findOurs: done([SUCCESSOR]) });
    expect(await startTransfer(deps, running(), { method: METHOD })).toMatchObject({ providerSubscriptionId: 'sub_2' });
    expect(names()).toEqual(['pause', 'findOurs', 'find', 'cancel']);
  });

  test('is aborted without a creation if the former subscription has ended and has no successor', async () => {
    const script = { pause: refused('canceled'), find: refused('resource_missing') };
    const { deps, names } = await service(running(), script);
    await expect(startTransfer(deps, running(), { method: METHOD })).rejects.toMatchObject({ code: 'PROVIDER_ERROR' });
    expect(names()).toEqual(['pause', 'findOurs', 'resume', 'find']);
  });

  test('reads the provider once more if the provider refuses the successor', async () => {
    const { deps, names } = await service(running(), { create: refused('resource_missing'), find: done(at()) });
    await expect(startTransfer(deps, running(), { method: METHOD })).rejects.toMatchObject({
      ...{ code: 'PROVIDER_ERROR', details: { provider_code: 'resource_missing' } },
    });
    expect(names()).toEqual(['pause', 'create', 'resume', 'find']);
  });

  test('names the provider’s refusal if the successor was canceled and the former subscription is unchanged', async () => {
    const gone = at({ ...SUCCESSOR, status: 'canceled' });
    const { deps } = await service(running(), { find: (id) => done(id === 'sub_1' ? at() : gone) });
    await expect(startTransfer(deps, running(), { method: METHOD })).rejects.toMatchObject({
      ...{ code: 'PROVIDER_ERROR', details: { provider_code: 'canceled' } },
    });
  });

  test.each<[string, Script]>([
    ['the creation has no response', { create: UNKNOWN }],
    ['the pause has no response', { pause: UNKNOWN }],
    ['the cancellation has no response', { cancel: UNKNOWN }],
    ['the former subscription cannot be released', { create: AWAY, resume: UNKNOWN }],
  ])('stays under way if %s', async (_, script) => {
    const { deps, load } = await service(running(), script);
    await expect(startTransfer(deps, running(), { method: METHOD })).rejects.toBeDefined();
    expect((await load())?.transfer).toBeDefined();
  });

  test('ends even if the former subscription has ended and cannot resume collection', async () => {
    const { deps, load } = await service(running(), { create: AWAY, resume: refused('resource_missing') });
    await expect(startTransfer(deps, running(), { method: METHOD })).rejects.toMatchObject({
      code: 'PROVIDER_UNAVAILABLE',
    });
    expect((await load())?.transfer).toBeUndefined();
  });
});

describe('a repeated transfer', () => {
  const SINCE = NOON + HOUR_MS;
  const LATE = SINCE + MINUTE_MS;

  test('finds the successor of an earlier run, and creates no other', async () => {
    const { deps, names, inputOf, load } = await service(moving(), { findOurs: done([at(), SUCCESSOR]) }, LATE);
    expect(await lookUpTransfer(deps, moving(), MAY_CHARGE)).toBe('active');
    expect(names()).toEqual(['findOurs', 'find', 'find', 'cancel']);
    expect(inputOf('findOurs')).toEqual({
      ...{ customerId: 'cus_b', ourSubscriptionId: ID, createdSince: epochSeconds(SINCE - MINUTE_MS) },
    });
    expect(await load()).toMatchObject({ providerSubscriptionId: 'sub_2', paymentMethodId: 'pmt_b' });
  });

  test('records an invoice of the former subscription that was paid meanwhile', async () => {
    const later = NOON + 62 * DAY_MS;
    const renewal = invoice({
      ...{ invoiceId: 'in_2', intentId: 'pi_2' },
      ...{ periodStart: epochSeconds(MONTH_END), periodEnd: epochSeconds(later) },
    });
    const former = at({
      ...{ status: 'paused', latestInvoice: renewal },
      ...{ currentPeriodStart: epochSeconds(MONTH_END), currentPeriodEnd: epochSeconds(later) },
    });
    const script: Script = {
      findOurs: done([SUCCESSOR]),
      find: (id) => done(id === 'sub_1' ? former : SUCCESSOR),
    };
    const { deps, names, load, table } = await service(moving(), script, MONTH_END + HOUR_MS);
    await lookUpTransfer(deps, moving(), MAY_CHARGE);
    expect(names().filter((name) => name === 'find')).toHaveLength(2);
    expect(await findAlias(table, 'provider_a', 'pi_2')).toMatchObject({ kind: 'PAY' });
    expect(await load()).toMatchObject({ providerSubscriptionId: 'sub_2', paidUntil: iso(later) });
  });

  test('is finished if the provider no longer knows the former subscription, and waits if the former subscription cannot be read', async () => {
    const found = (former: Outcome<unknown>): Script => ({
      findOurs: done([SUCCESSOR]),
      find: (id) => (id === 'sub_1' ? former : done(SUCCESSOR)),
    });
    const gone = await service(moving(), found(refused('resource_missing')), LATE);
    await lookUpTransfer(gone.deps, moving(), MAY_CHARGE);
    expect(await gone.load()).toMatchObject({ providerSubscriptionId: 'sub_2' });
    const away = await service(moving(), found(UNKNOWN), LATE);
    await expect(lookUpTransfer(away.deps, moving(), MAY_CHARGE)).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT' });
    expect(away.names()).not.toContain('cancel');
    expect((await away.load())?.transfer).toBeDefined();
  });

  test('searches for successors since its first lookup if an older release has stored no claim time', async () => {
    const { claimedAt: _, ...transfer } = moving().transfer ?? expect.fail();
    const claimed = moving({ transfer });
    const { deps, inputOf } = await service(claimed, { findOurs: done([at(), SUCCESSOR]) }, LATE);
    await lookUpTransfer(deps, claimed, MAY_CHARGE);
    expect(inputOf('findOurs')).toMatchObject({ createdSince: epochSeconds(SINCE - MINUTE_MS) });
  });

  test('creates the successor if no earlier run has created it, and waits for the provider instead of aborting', async () => {
    const created = await service(moving(), {}, LATE);
    await lookUpTransfer(created.deps, moving(), MAY_CHARGE);
    expect(created.names()).toEqual(['findOurs', 'pause', 'create', 'find', 'cancel']);
    const away = await service(moving(), { create: AWAY }, LATE);
    expect(await lookUpTransfer(away.deps, moving(), MAY_CHARGE)).toBe('not sent');
    expect((await away.load())?.transfer).toBeDefined();
    expect(away.names()).not.toContain('resume');
  });

  test.each<[string, Script]>([
    ['the provider is unreachable', { create: AWAY }],
    ['the creation has no response', { create: UNKNOWN }],
  ])('is repeated after five minutes, however old it is, if %s', async (_, script) => {
    const now = LATE + DAY_MS;
    const { deps, dueAt, lines } = await service(moving(), script, now);
    await lookUpTransfer(deps, moving(), MAY_CHARGE);
    expect(await dueAt()).toBe(iso(now + 5 * MINUTE_MS));
    const fields = { subscription_id: ID, provider: 'provider_a', reason: 'outcome_unknown' };
    expect(lines).toEqual([{ level: 'warn', message: 'subscription stuck', fields }]);
  });

  test('is not stuck within half an hour of its claim', async () => {
    const { deps, lines } = await service(moving(), { create: UNKNOWN }, SINCE + 30 * MINUTE_MS - 1);
    await lookUpTransfer(deps, moving(), MAY_CHARGE);
    expect(lines).toEqual([]);
  });

  test('is aborted if the method is declined', async () => {
    const script: Script = { create: { kind: 'declined', code: 'expired_card', attemptRef: 'ch_1' } };
    const { deps, names, load } = await service(moving(), script, LATE);
    expect(await lookUpTransfer(deps, moving(), MAY_CHARGE)).toBe('PAYMENT_DECLINED');
    expect(names()).toEqual(['findOurs', 'pause', 'create', 'resume']);
    const stored = await load();
    expect([stored?.transfer, stored?.providerSubscriptionId]).toEqual([undefined, 'sub_1']);
  });

  test('is aborted without a creation if the former subscription has ended and has no successor', async () => {
    const script = { pause: refused('canceled'), find: refused('resource_missing') };
    const { deps, names, load } = await service(moving(), script, LATE);
    expect(await lookUpTransfer(deps, moving(), MAY_CHARGE)).toBe('PROVIDER_ERROR');
    expect(names()).not.toContain('create');
    expect((await load())?.transfer).toBeUndefined();
  });

  test('does not count a successor that was canceled with its customer before its first charge', async () => {
    const gone = at({ ...SUCCESSOR, status: 'canceled' });
    const script = { findOurs: done([gone]), find: done(gone) };
    const { deps, names, load } = await service(moving(), script, LATE);
    expect(await lookUpTransfer(deps, moving(), MAY_CHARGE)).toBe('INVALID_STATE');
    expect(names().slice(0, 4)).toEqual(['findOurs', 'find', 'pause', 'create']);
    expect((await load())?.transfer).toBeUndefined();
  });

  test('charges nothing for the time that was paid for when the transfer was claimed', async () => {
    const late = MONTH_END + DAY_MS;
    const { deps, inputOf } = await service(moving(), {}, late);
    await lookUpTransfer(deps, moving(), MAY_CHARGE);
    expect(inputOf('create')).toMatchObject({ trialEnd: epochSeconds(MONTH_END) });
  });

  test('does not change a later transfer of the record', async () => {
    const declined = { create: { kind: 'declined', code: 'expired_card', attemptRef: 'ch_1' } } as const;
    const { deps, names, table, load } = await service(moving(), declined, LATE);
    const later = moving({ providerGeneration: 3, lock: 1 });
    await table.put(recordItem(subscriptionShape, later));
    await lookUpTransfer(deps, moving(), MAY_CHARGE);
    expect(names()).toContain('resume');
    expect(await load()).toMatchObject({ providerGeneration: 3, transfer: { methodRef: 'pm_b' } });
  });
});

describe('a transfer whose method may no longer be charged', () => {
  test('is aborted, and the uncharged subscriptions of earlier runs are canceled', async () => {
    const script = { findOurs: done([SUCCESSOR]), find: done(at()) };
    const { deps, names, inputOf, load } = await service(moving(), script);
    expect(await lookUpTransfer(deps, moving(), MAY_NOT_CHARGE)).toBe('active');
    expect(names()).toEqual(['findOurs', 'find', 'cancel', 'resume']);
    expect(inputOf('find')).toBe('sub_1');
    expect(inputOf('cancel')).toEqual({ subscriptionId: 'sub_2', idempotencyKey: `${ID}:cancel:sub_2` });
    const stored = await load();
    expect([stored?.transfer, stored?.providerSubscriptionId]).toEqual([undefined, 'sub_1']);
  });

  test('is aborted if nothing was created', async () => {
    const { deps, names, load } = await service(moving());
    await lookUpTransfer(deps, moving(), MAY_NOT_CHARGE);
    expect((await load())?.transfer).toBeUndefined();
    expect(names()).toEqual(['findOurs', 'resume']);
  });

  test.each<[string, Script]>([
    ['was charged', { findOurs: done([at({ ...SUCCESSOR, status: 'active' })]) }],
    [
      'replaces a subscription that was canceled',
      {
        findOurs: done([SUCCESSOR]),
        find: (id) => done(id === 'sub_1' ? at({ status: 'canceled' }) : SUCCESSOR),
      },
    ],
  ])('is finished if the successor of an earlier run %s', async (_, script) => {
    const { deps, names, load } = await service(moving(), script, NOON + 2 * HOUR_MS);
    await lookUpTransfer(deps, moving(), MAY_NOT_CHARGE);
    expect(await load()).toMatchObject({ providerSubscriptionId: 'sub_2' });
    expect(names()).toEqual(['findOurs', 'find', 'find', 'cancel']);
  });
});
