import { beforeEach, describe, expect, test } from 'vitest';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atPayPal } from './at-paypal.ts';
import { eventsOf, read, signIn, type User } from './flow.ts';
import { AT_PAYPAL, AT_SQUARE, AT_STRIPE, capture, heldPayment } from './holders.ts';
import { type ParsedJson, type TestAnswer, withHost } from './host.ts';
import { expectAgreement, refund, refundsAtProvider, signInAdmin } from './refunders.ts';

/** Several captures of one PayPal authorization, made on PayPal's site. */
const service = withHost({ frozen: true });
beforeEach(async () => {
  await service.webhookMode('normal');
  await service.clearFaults();
});

interface Held {
  readonly user: User;
  readonly admin: User;
  readonly id: string;
}

const hold = async (): Promise<Held> => {
  const user = await signIn(service, { expires_in: 48 * HOUR_SECONDS });
  const admin = await signInAdmin(service);
  const { id } = await heldPayment(service, user, { holding: AT_PAYPAL });
  return { user, admin, id };
};

const takeOnSite = async (id: string, amount: number, final = false): Promise<ParsedJson> => {
  const taken = await service.control('POST', `/simulator/payments/${id}/captures`, { amount, final });
  await service.settle();
  return taken;
};

const sync = ({ id, admin }: Held): Promise<TestAnswer> =>
  service.post('/payments/sync', { provider_payment_id: id }, admin.options);

const syncAs = async ({ id, admin }: Held): Promise<TestAnswer> => {
  const { provider_intent_id } = await read(service, id, admin.options);
  return service.post('/payments/sync', { provider_payment_id: provider_intent_id }, admin.options);
};

const dataOf = async (id: string, name: string): Promise<ParsedJson[]> => {
  const requests = await service.control('GET', '/sink/default');
  return requests
    .map(({ raw }: ParsedJson) => JSON.parse(raw))
    .filter(({ event, data }: ParsedJson) => event === name && data?.payment_id === id)
    .map(({ data }: ParsedJson) => data);
};

const view = (held: Held): Promise<ParsedJson> => read(service, held.id, held.admin.options);

describe('several captures of one PayPal authorization', () => {
  test('of 5.00 and 5.00 are 10.00 with the prices of the hold', async () => {
    const held = await hold();
    await takeOnSite(held.id, 500);
    const first = await view(held);
    expect(first).toMatchObject({
      ...{ status: 'succeeded', total_cents: 500, tax_cents: 100, subtotal_cents: 400 },
      ...{ authorized_cents: 1_000, captured_cents: 500, refundable_cents: 500 },
    });
    await service.advance(HOUR_SECONDS);
    await takeOnSite(held.id, 500);
    expect(await view(held)).toMatchObject({
      ...{ status: 'succeeded', total_cents: 1_000, tax_cents: 100, subtotal_cents: 900 },
      ...{ authorized_cents: 1_000, captured_cents: 1_000, refundable_cents: 1_000 },
      ...{ completed_at: first.completed_at, provider_payment_id: first.provider_payment_id },
    });
  });

  test('of 6.00 and 3.00 are 9.00 with the tax in proportion', async () => {
    const held = await hold();
    await takeOnSite(held.id, 600);
    await takeOnSite(held.id, 300, true);
    expect(await view(held)).toMatchObject({
      ...{ total_cents: 900, tax_cents: 90, subtotal_cents: 810, captured_cents: 900, refundable_cents: 900 },
    });
    expect(await eventsOf(service, held.id)).toEqual([
      ...['payment.created', 'payment.authorized', 'payment.succeeded', 'payment.captured_more'],
    ]);
    expect(await dataOf(held.id, 'payment.captured_more')).toMatchObject([
      { amount: 300, captured_amount: 900, status: 'succeeded', currency: 'USD' },
    ]);
  });
});
