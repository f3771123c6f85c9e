/** @module The later reads for a payment with missing facts. The reads are counted, and no payer waits for them. */
import { describe, expect, test } from 'vitest';
import type { MethodDetails, Settlement } from '../../shared/core/payment-facts.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { runDuePayment } from '../../shared/payments/run-payment-due.ts';
import { unpackedFacts } from '../../shared/payments/stored-facts.ts';
import type { Item } from '../../shared/platform/table.ts';
import type { KnownPayment, ProviderPayment } from '../../shared/providers/payment-port.ts';
import { NOON, payment } from '../builders/payment.ts';
import { paymentWork, reported, type Script, UNKNOWN } from '../builders/payment-work.ts';

const DETAILS: MethodDetails = { type: 'card', cardBrand: 'visa', lastFour: '4242' };
const FEE: Settlement = { feeCents: 103, netCents: 2_397, currency: 'USD' };

/** A payment made at noon. Its provider has reported only its outcome. */
const outcome = (fields: Partial<VisiblePayment> = {}): VisiblePayment =>
  payment({ status: 'succeeded', version: 3, attempt: 1, factsAt: iso(NOON + MINUTE_MS), ...fields });

const telling = (facts: ProviderPayment['facts'], fields: Partial<ProviderPayment> = {}): Script => ({
  findPayment: async () => reported('succeeded', { facts, ...fields }),
});

const storedIn = async ({ load }: { readonly load: () => Promise<Item | undefined> }): Promise<Item | undefined> => {
  const item = await load();
  return item && { ...item, ...unpackedFacts(item) };
};

const at = async (record: VisiblePayment, script: Script, afterMs = MINUTE_MS) => {
  const work = await paymentWork(record, script);
  work.clock.at = NOON + afterMs;
  await work.lease();
  const result = await runDuePayment(work.deps, record.id);
  return { ...work, result, stored: await storedIn(work) };
};

describe('a read for facts', () => {
  test('stores its findings with the cause "facts", and is the last read if no fact is missing', async () => {
    const { result, stored, calls, dueAt } = await at(outcome(), telling({ details: DETAILS, settlement: FEE }));
    expect([result, calls, await dueAt()]).toEqual(['facts', ['findPayment'], undefined]);
    expect(stored).toMatchObject({ cause: 'facts', version: 4, details: DETAILS, settlement: FEE });
    expect(stored).not.toHaveProperty('factsAt');
  });

  test('reads the settlement too, with the ids of the record', async () => {
    const asked: KnownPayment[] = [];
    const findPayment: Script['findPayment'] = async (known) => {
      asked.push(known);
      return reported('succeeded');
    };
    await at(outcome({ attemptRef: 'ch_1' }), { findPayment });
    expect(asked).toMatchObject([{ intentId: 'pi_1', attemptRef: 'ch_1', status: 'succeeded', withSettlement: true }]);
  });

  test('is made at most three times, after a minute, an hour and a day, if the provider returns no fact', async () => {
    const work = await paymentWork(outcome(), telling(undefined));
    const due: (number | undefined)[] = [];
    for (let runs = 0; runs < 5; runs += 1) {
      const next = await work.dueAt();
      due.push(next && next - NOON);
      work.clock.at = next ?? work.clock.at + DAY_MS;
      await runDuePayment(work.deps, outcome().id);
    }
    expect(due).toEqual([MINUTE_MS, HOUR_MS, DAY_MS, undefined, undefined]);
    expect(work.calls).toEqual(['findPayment', 'findPayment', 'findPayment']);
    expect(await work.load()).toMatchObject({ version: 3 });
  });

  test('counts even if it fails', async () => {
    const { result, stored, dueAt } = await at(outcome(), { findPayment: async () => UNKNOWN });
    expect([result, await dueAt()]).toEqual(['facts unclear', NOON + HOUR_MS]);
    expect(stored).toMatchObject({ factLooks: 1, version: 3 });
  });

  test('is counted before it is made, so that a stopped function does not repeat it', async () => {
    const stop: Script['findPayment'] = () => Promise.reject(new Error('stopped'));
    const work = await paymentWork(outcome(), { findPayment: stop });
    work.clock.at = NOON + MINUTE_MS;
    await expect(runDuePayment(work.deps, outcome().id)).rejects.toThrow('stopped');
    expect([await work.dueAt(), (await work.load())?.['factLooks']]).toEqual([NOON + HOUR_MS, 1]);
  });

  test('is made once by two functions that run at the same time', async () => {
    const work = await paymentWork(outcome(), telling(undefined));
    work.clock.at = NOON + MINUTE_MS;
    const run = () => runDuePayment(work.deps, outcome().id);
    expect((await Promise.all([run(), run()])).toSorted()).toEqual(['another write came first', 'no facts']);
    expect(work.calls).toEqual(['findPayment']);
  });

  test('keeps the facts that an event reported during the read', async () => {
    const work = await paymentWork(outcome(), {
      findPayment: async () => {
        await work.overtake({ settlement: FEE });
        return reported('succeeded', { facts: { details: DETAILS } });
      },
    });
    work.clock.at = NOON + MINUTE_MS;
    expect(await runDuePayment(work.deps, outcome().id)).toBe('facts');
    expect(await storedIn(work)).toMatchObject({ details: DETAILS, settlement: FEE });
  });

  test.each<[string, Partial<ProviderPayment>]>([
    ['another amount', { amountCents: 1 }],
    ['an earlier status', { status: 'pending' }],
  ])('stores nothing from a report of %s', async (_, fields) => {
    const { result, stored } = await at(outcome(), telling({ details: DETAILS, settlement: FEE }, fields));
    expect([result, stored?.['version'], stored?.['details']]).toEqual(['no facts', 3, undefined]);
  });

  test('stores the success of a payment that failed here, because money has moved', async () => {
    const failed = outcome({ status: 'failed', failureCode: 'do_not_honor' });
    const { stored } = await at(failed, telling({ details: DETAILS }));
    expect(stored).toMatchObject({ status: 'succeeded', cause: 'reconciliation', details: DETAILS });
  });

  test('finds the method of a declined payment, and expects no settlement', async () => {
    const failed = outcome({ status: 'failed', failureCode: 'do_not_honor' });
    const findPayment = async () => reported('failed', { facts: { details: DETAILS } });
    const { stored, dueAt } = await at(failed, { findPayment });
    expect(stored).toMatchObject({ status: 'failed', failureCode: 'do_not_honor', details: DETAILS });
    expect(await dueAt()).toBeUndefined();
  });

  test('comes after a lookup that an event requested, and the lookup is not repeated', async () => {
    const asked = { reconcileAt: iso(NOON), reconcileStep: 0 };
    const failed = outcome({ status: 'failed', failureCode: 'do_not_honor', ...asked });
    const work = await paymentWork(failed, { findPayment: async () => reported('failed') });
    work.clock.at = NOON + SECOND_MS;
    expect(await runDuePayment(work.deps, failed.id)).toBe('unchanged');
    expect(await work.dueAt()).toBe(NOON + MINUTE_MS);
    work.clock.at = NOON + MINUTE_MS;
    expect(await runDuePayment(work.deps, failed.id)).toBe('no facts');
    expect([work.calls.length, await work.dueAt()]).toEqual([2, NOON + HOUR_MS]);
  });

  test('stores the provider’s settlement after an event with another settlement, in a single read', async () => {
    const asked = outcome({ details: DETAILS, settlement: { ...FEE, feeCents: 60, netCents: 2_440 }, factLooks: 2 });
    const { result, stored, dueAt } = await at(asked, telling({ details: DETAILS, settlement: FEE }));
    expect([result, stored?.['settlement'], await dueAt()]).toEqual(['facts', FEE, undefined]);
    const same = await at({ ...asked, settlement: FEE }, telling({ details: DETAILS, settlement: FEE }));
    expect([same.result, await same.dueAt()]).toEqual(['no facts', undefined]);
  });

  test('replaces a pending lookup', async () => {
    const pending = { reconcileAt: iso(NOON + DAY_MS), reconcileStep: 0 };
    const failed = outcome({ status: 'failed', failureCode: 'do_not_honor', ...pending });
    const { result, stored } = await at(failed, {
      findPayment: async () => reported('failed', { facts: { details: DETAILS } }),
    });
    expect(result).toBe('facts');
    expect(stored).not.toHaveProperty('reconcileAt');
  });

  test('precedes other due work, which stays due', async () => {
    const secret = { clientSecret: 'pi_1_secret', createdAt: iso(NOON - HOUR_MS) };
    const { calls, dueAt } = await at(outcome({ ...secret, factLooks: 2 }), telling(undefined), MINUTE_MS + SECOND_MS);
    expect([calls, await dueAt()]).toEqual([['findPayment'], NOON - HOUR_MS + DAY_MS]);
  });

  test('is not repeated after the provider’s slot is closed', async () => {
    const work = await paymentWork(outcome({ factLooks: 2 }), {});
    const { DomainError } = await import('../../shared/core/errors.ts');
    const closed = { ...work.deps.providers, require: () => Promise.reject(new DomainError('UNSUPPORTED_PROVIDER')) };
    work.clock.at = NOON + MINUTE_MS;
    expect(await runDuePayment({ ...work.deps, providers: closed }, outcome().id)).toBe('UNSUPPORTED_PROVIDER');
    expect(await work.dueAt()).toBeUndefined();
  });
});
