/** @module Compares the counters of payment links with their payments. */

import { describe, expect, test } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import { type Handler, loadEntry } from '../../infra/local/machine/invoke.ts';
import { DAY_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { itemsOf, PATIENT } from './flow.ts';
import { type TestHost, withHost } from './host.ts';
import { createLink, startLink, withToken } from './pages.ts';
import { withStops } from './stops.ts';

const SLOTS = [
  ['Stripe', 'provider_a', 'pm_card_visa'],
  ['PayPal', 'provider_b', 'SIM-OK'],
  ['Square', 'provider_c', 'cnon:card-nonce-ok'],
] as const;

const twice =
  (handler: Handler): Handler =>
  async (event, context) => {
    await handler(event, context);
    return handler(event, context);
  };

/** Runs the projections twice for every stream batch. */
const REPEATED: Catalogue = {
  endpoints,
  triggers,
  load: async (id) => {
    const handler = await loadEntry(id);
    return id === 'workers.project-changes' ? twice(handler) : handler;
  },
};

/** The link's counts, computed from its payments. */
const heldOf = async (service: TestHost, linkId: string) => {
  await service.settle();
  const held = (await itemsOf(service, 'PAY#')).filter(
    ({ sk, paymentLink }) => sk === 'PAY' && paymentLink?.id === linkId,
  );
  const succeeded = held.filter(({ status }) => status === 'succeeded').length;
  return { open: held.filter(({ status }) => status !== 'canceled').length - succeeded, succeeded };
};

describe.each(SLOTS)('200 concurrent starts on a link with five places at %s', (_, slot, method) => {
  const service = withHost({ frozen: true, env: PATIENT, catalogue: REPEATED });

  test('create five payments, refuse the other 195, and keep the link’s counts equal to its payments', {
    timeout: 300_000,
  }, async () => {
    const link = await createLink(service, { max_payments: 5, providers: [slot] });
    const answers = await Promise.all(Array.from({ length: 200 }, () => startLink(service, link.token)));
    const codes = answers.map(({ status, body }) => (status === 201 ? 'started' : body.code));
    expect(
      Object.fromEntries([...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length])),
    ).toEqual({
      started: 5,
      LINK_SPENT: 195,
    });
    expect((await link.read()).payments).toEqual({ open: 5, succeeded: 0 });
    const tokens = answers.flatMap(({ status, body }) => (status === 201 ? [body.token] : []));
    for (const token of tokens.slice(0, 2)) {
      await service.post('/pay/confirm', { payment_method_id: method }, withToken(token));
    }
    await service.settle();
    expect((await link.read()).payments).toEqual(await heldOf(service, link.id));
    await service.advance(DAY_SECONDS + 10 * MINUTE_SECONDS);
    await service.advance(10 * MINUTE_SECONDS);
    const { payments } = await link.read();
    expect(payments).toEqual(await heldOf(service, link.id));
    expect(payments.open).toBe(0);
    const again = await Promise.all(Array.from({ length: 20 }, () => startLink(service, link.token)));
    expect(again.filter(({ status }) => status === 201)).toHaveLength(5 - payments.succeeded);
  });
});

describe('a start interrupted at any call', () => {
  const stoppable = withStops({ ...PATIENT, PLACE_HOLD_MINUTES: '600' });

  test('neither loses a place nor takes two', { timeout: 600_000 }, async () => {
    const { service, watch, stopped } = stoppable();
    const link = await createLink(service, { max_payments: 1_000 });
    const payer = { email: 'stop@example.com' };
    const start = (key: string) => startLink(service, link.token, payer, `the key of a stopped start ${key}`);
    const calls = await watch(() => start('seen'));
    for (const [at] of calls.entries()) {
      for (const executed of [false, true]) {
        const key = `${at} ${executed}`;
        await stopped({ call: at + 1, executed }, () => start(key));
        if (at % 2 === 1) continue;
        await service.advance(MINUTE_SECONDS);
        expect((await start(key)).status).toBe(201);
      }
    }
    await service.advance(15 * MINUTE_SECONDS);
    await service.advance(15 * MINUTE_SECONDS);
    expect((await link.read()).payments).toEqual(await heldOf(service, link.id));
    await service.advance(2 * DAY_SECONDS);
    await service.advance(MINUTE_SECONDS);
    expect((await link.read()).payments).toEqual({ open: 0, succeeded: 0 });
  });
});
