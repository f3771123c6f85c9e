import { describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import { type Handler, loadEntry } from '../../infra/local/machine/invoke.ts';
import { DECLINED, VISA } from '../builders/intent.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { codeCounts, heldOf, putCode, signInForYears, usesOf } from './discounts.ts';
import { confirm, PATIENT, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import type { ParsedJson } from './routes.ts';
import { withStops } from './stops.ts';

/** Compares the counters of codes with the records that use the codes. */
const BODY = { subtotal_cents: 2_000, currency: 'USD' };

const twice =
  (handler: Handler): Handler =>
  async (event, context) => {
    await handler(event, context);
    return handler(event, context);
  };

/** Delivers every batch of the stream to the projections twice. */
const REPEATED: Catalogue = {
  endpoints,
  triggers,
  load: async (id) => {
    const handler = await loadEntry(id);
    return id === 'workers.project-changes' ? twice(handler) : handler;
  },
};

describe('200 simultaneous creates with a code for ten uses', () => {
  const service = withHost({ frozen: true, env: PATIENT });

  test('make ten payments, and 190 fail because the code is exhausted', { timeout: 300_000 }, async () => {
    await putCode(service, 'TEN', { max_redemptions: 10 });
    const users = [];
    for (let at = 0; at < 200; at += 1) users.push(await signIn(service));
    const answers = await Promise.all(
      users.map(({ options }) => service.post('/payments/intents', { ...BODY, discount_code: 'TEN' }, options)),
    );
    const said = answers.map(({ status, body }: { status: number; body: ParsedJson }) =>
      status === 201 ? 'made' : body.details?.reason,
    );
    expect(Map.groupBy(said, (one) => one).get('made')).toHaveLength(10);
    expect(Map.groupBy(said, (one) => one).get('exhausted')).toHaveLength(190);
    expect(await codeCounts(service, 'TEN')).toEqual({ reserved: 10, redeemed: 0 });
  });
});

describe('a stream that delivers every batch twice', () => {
  const service = withHost({ frozen: true, env: { ...PATIENT, PLACE_HOLD_MINUTES: '60' }, catalogue: REPEATED });

  type Fate = (id: string, options: RequestOptions) => Promise<unknown>;
  const FATES: readonly Fate[] = [
    (id, options) => confirm(service, id, { ...options, body: { payment_method_id: VISA } }),
    (id, options) => service.post(`/payments/intents/${id}/cancel`, {}, options),
    (id, options) => confirm(service, id, { ...options, body: { payment_method_id: DECLINED } }),
    (id, options) => service.put(`/payments/intents/${id}`, { discount_code: null }, options),
    (id, options) => service.put(`/payments/intents/${id}`, { discount_code: 'OTHER' }, options),
    async () => undefined,
  ];

  test('counts each use once for paid, canceled, declined, changed and expired payments', {
    timeout: 300_000,
  }, async () => {
    await putCode(service, 'MANY', { max_redemptions: 1_000, max_per_payer: 100 });
    await putCode(service, 'OTHER', { max_redemptions: 1_000, percent_bp: 1_000 });
    const user = await signInForYears(service);
    const made: ParsedJson[] = [];
    for (let at = 0; at < 24; at += 1) {
      made.push((await service.post('/payments/intents', { ...BODY, discount_code: 'MANY' }, user.options)).body);
    }
    for (const [at, { id }] of made.entries()) await FATES[at % FATES.length]?.(id, user.options);
    for (const code of ['MANY', 'OTHER']) expect(await codeCounts(service, code)).toEqual(await heldOf(service, code));
    expect(await usesOf(service, 'MANY')).toBe(12);
    await service.advance(2 * 60 * MINUTE_SECONDS);
    await service.advance(10 * MINUTE_SECONDS);
    for (const code of ['MANY', 'OTHER']) expect(await codeCounts(service, code)).toEqual(await heldOf(service, code));
    expect(await codeCounts(service, 'MANY')).toEqual({ reserved: 0, redeemed: 4 });
    expect(await codeCounts(service, 'OTHER')).toEqual({ reserved: 0, redeemed: 0 });
    expect(await usesOf(service, 'MANY')).toBe(4);
  });
});

/** Two stops per call, one before the call and one after the call. */
const stopsOf = (calls: readonly string[]) =>
  calls.flatMap((_, at) => [false, true].map((executed) => ({ call: at + 1, executed })));

describe('a create or an update that stops at any of its calls', () => {
  const stoppable = withStops({ ...PATIENT, PLACE_HOLD_MINUTES: '600' });

  test('loses no use of the code, and takes no use twice', { timeout: 600_000 }, async () => {
    const { service, watch, stopped } = stoppable();
    await putCode(service, 'STOPS', { max_redemptions: 1_000 });
    const user = await signInForYears(service);
    const create = (key: string) =>
      service.post('/payments/intents', { ...BODY, discount_code: 'STOPS' }, { ...user.options, idempotencyKey: key });
    const calls = await watch(() => create('seen'));
    for (const stop of stopsOf(calls)) {
      const key = `stop-${stop.call}-${stop.executed}`;
      await stopped(stop, () => create(key));
      if (stop.call % 2 === 1) continue;
      await service.advance(MINUTE_SECONDS);
      expect((await create(key)).status).toBe(201);
    }
    const paid = (await create('paid')).body;
    const remove = (id: string) => service.put(`/payments/intents/${id}`, { discount_code: null }, user.options);
    const updates = await watch(() => remove(paid.id));
    for (const stop of stopsOf(updates)) {
      const { id } = (await create(`update-${stop.call}-${stop.executed}`)).body;
      await stopped(stop, () => remove(id));
    }
    await service.advance(15 * MINUTE_SECONDS);
    await service.advance(15 * MINUTE_SECONDS);
    const counted = await codeCounts(service, 'STOPS');
    expect(counted).toEqual(await heldOf(service, 'STOPS'));
    expect(await usesOf(service, 'STOPS')).toBe((counted.reserved ?? 0) + (counted.redeemed ?? 0));
    await service.advance(2 * DAY_SECONDS);
    await service.advance(MINUTE_SECONDS);
    expect(await codeCounts(service, 'STOPS')).toEqual({ reserved: 0, redeemed: 0 });
  });
});
