import { beforeEach, describe, expect, test } from 'vitest';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { atPayPal } from './at-paypal.ts';
import { eventsOf, logEntriesOf, read, signIn, type User } from './flow.ts';
import { AT_PAYPAL, AT_SQUARE, AT_STRIPE, capture, heldPayment, release } from './holders.ts';
import { withHost } from './host.ts';
import { expectAgreement, refund, refundsAtProvider, signInAdmin } from './refunders.ts';
import type { ParsedJson } from './routes.ts';

/** Several captures of one PayPal authorization of 10.00, made on PayPal's site. */
const service = withHost({ frozen: true });
beforeEach(async () => {
  await service.webhookMode('normal');
  await service.clearFaults();
});

interface Held {
  readonly user: User;
  readonly admin: User;
  readonly id: string;
  readonly orderId: string;
}

const hold = async (fields: Readonly<Record<string, unknown>> = {}): Promise<Held> => {
  const user = await signIn(service, { expires_in: 48 * HOUR_SECONDS });
  const admin = await signInAdmin(service);
  const { id, provider_intent_id: orderId } = await heldPayment(service, user, { holding: AT_PAYPAL, ...fields });
  return { user, admin, id, orderId };
};

/** @returns the id of the capture */
const takeOnSite = async ({ id }: Held, amount: number, final = false): Promise<string> => {
  const taken = await service.control('POST', `/simulator/payments/${id}/captures`, { amount, final });
  await service.settle();
  return taken.id;
};

const view = ({ id, admin }: Held) => read(service, id, admin.options);

const sync = ({ admin, orderId }: Held) => service.post(`/payments/sync/${orderId}`, {}, admin.options);

const refundOf = ({ id, admin }: Held, body: object = {}) => refund(service, id, { ...admin.options, body });

const dataOf = async ({ id }: Held, name: string) =>
  (await service.busEvents(name)).map((event) => event.detail.payload.data).filter((data) => data.payment_id === id);

const orderAtPayPal = async ({ orderId }: Held) =>
  (await atPayPal(service, `GET v2/checkout/orders/${orderId}`)).purchase_units[0].payments;

const sendCompleted = async (object: object): Promise<void> => {
  const event = { provider: AT_PAYPAL.slot, vocabulary: 'native', type: 'PAYMENT.CAPTURE.COMPLETED', object } as const;
  expect(await service.sendEvent(event)).toMatchObject({ status: 200 });
  await service.settle();
};

const NINE = {
  ...{ status: 'succeeded', total_cents: 900, tax_cents: 90, subtotal_cents: 810 },
  ...{ authorized_cents: 1_000, captured_cents: 900, refundable_cents: 900 },
};
const SUCCEEDED_ONCE = ['payment.created', 'payment.authorized', 'payment.succeeded'] as const;

describe('several captures of one PayPal authorization', () => {
  test('restore the prices of the 10.00 hold once 5.00 and 5.00 are captured', async () => {
    const held = await hold();
    await takeOnSite(held, 500);
    const first = await view(held);
    expect(first).toMatchObject({
      ...{ status: 'succeeded', total_cents: 500, tax_cents: 100, subtotal_cents: 400 },
      ...{ authorized_cents: 1_000, captured_cents: 500, refundable_cents: 500 },
    });
    expect((await orderAtPayPal(held)).authorizations).toMatchObject([{ status: 'PARTIALLY_CAPTURED' }]);
    await service.advance(HOUR_SECONDS);
    await takeOnSite(held, 500);
    expect((await orderAtPayPal(held)).authorizations).toMatchObject([{ status: 'CAPTURED' }]);
    expect(await view(held)).toMatchObject({
      ...{ status: 'succeeded', total_cents: 1_000, tax_cents: 100, subtotal_cents: 900 },
      ...{ authorized_cents: 1_000, captured_cents: 1_000, refundable_cents: 1_000 },
      ...{ completed_at: first.completed_at, provider_payment_id: first.provider_payment_id },
    });
  });

  test('reduce the tax in proportion for 6.00 and 3.00, and publish the added amount once', async () => {
    const held = await hold();
    await takeOnSite(held, 600);
    await takeOnSite(held, 300, true);
    expect(await view(held)).toMatchObject(NINE);
    expect(await eventsOf(service, held.id)).toEqual([...SUCCEEDED_ONCE, 'payment.captured_more']);
    expect(await dataOf(held, 'payment.captured_more')).toMatchObject([
      { amount: 300, captured_amount: 900, status: 'succeeded', currency: 'USD' },
    ]);
  });

  test('have no tax while their sum is below the tax, and a share of the tax as the sum grows', async () => {
    const held = await hold();
    await takeOnSite(held, 50);
    expect(await view(held)).toMatchObject({ total_cents: 50, tax_cents: 0, subtotal_cents: 50 });
    await takeOnSite(held, 450);
    expect(await view(held)).toMatchObject({ total_cents: 500, tax_cents: 50, subtotal_cents: 450 });
    await takeOnSite(held, 500);
    expect(await view(held)).toMatchObject({ total_cents: 1_000, tax_cents: 100, subtotal_cents: 900 });
    expect((await dataOf(held, 'payment.captured_more')).map(({ amount }) => amount)).toEqual([450, 500]);
  });

  test('add up their fees', async () => {
    const held = await hold();
    await takeOnSite(held, 600);
    await takeOnSite(held, 400);
    const { charges } = await service.ledger(held.id);
    const fee = charges.reduce((sum: number, charge: ParsedJson) => sum + charge.fee, 0);
    expect(charges).toHaveLength(2);
    expect(await view(held)).toMatchObject({ settlement: { fee_cents: fee, net_cents: 1_000 - fee } });
  });

  test('are quarantined if their sum exceeds the authorized amount, and a sync stores nothing', async () => {
    const held = await hold();
    await takeOnSite(held, 600);
    await takeOnSite(held, 500, true);
    const six = { status: 'succeeded', total_cents: 600, captured_cents: 600, refundable_cents: 600 };
    expect(await view(held)).toMatchObject(six);
    const outcomes = (await logEntriesOf(service, held.id)).map(({ response }) => response);
    expect(outcomes).toContainEqual({ outcome: 'quarantined', payment_id: held.id, reason: 'amount differs' });
    await sync(held);
    expect(await view(held)).toMatchObject(six);
    expect(await eventsOf(service, held.id)).toEqual([...SUCCEEDED_ONCE]);
  });

  test.each(['drop', 'duplicate', 'reorder'] as const)('reach the same state by a sync (events: %s)', async (mode) => {
    const held = await hold();
    await service.webhookMode(mode, 3);
    await takeOnSite(held, 600);
    await takeOnSite(held, 300, true);
    await service.webhookMode('normal');
    await service.settle();
    expect(await sync(held)).toMatchObject({ status: 200, body: { total_cents: 900 } });
    expect(await sync(held)).toMatchObject({ status: 200, body: { total_cents: 900 } });
    expect(await view(held)).toMatchObject(NINE);
    const events = await eventsOf(service, held.id);
    expect(events.filter((name) => name === 'payment.succeeded')).toHaveLength(1);
    expect(events.filter((name) => name === 'payment.captured_more').length).toBeLessThan(2);
  });

  test('are added once by a sync if only the first capture had an event', async () => {
    const held = await hold();
    await takeOnSite(held, 600);
    await service.webhookMode('drop');
    await takeOnSite(held, 300, true);
    expect(await view(held)).toMatchObject({ total_cents: 600 });
    expect(await sync(held)).toMatchObject({ status: 200, body: NINE });
    expect(await sync(held)).toMatchObject({ status: 200, body: NINE });
    await service.settle();
    expect(await dataOf(held, 'payment.captured_more')).toMatchObject([{ amount: 300, captured_amount: 900 }]);
  });

  test.each([[[0, 1]], [[1, 0]], [[1, 0, 0, 1]], [[0, 0, 1, 1, 0]]])(
    'reach the same state for events in the order %j',
    async (order) => {
      const held = await hold();
      await service.webhookMode('drop');
      await takeOnSite(held, 600);
      await takeOnSite(held, 300, true);
      const { captures } = await orderAtPayPal(held);
      for (const index of order) await sendCompleted(captures[index]);
      expect(await view(held)).toMatchObject(NINE);
      const events = await eventsOf(service, held.id);
      expect(events).toEqual([...SUCCEEDED_ONCE, 'payment.captured_more']);
      const outcomes = (await logEntriesOf(service, held.id)).map(({ response }) => response.outcome);
      expect(outcomes).not.toContain('quarantined');
    },
  );

  test('update the summary with each capture', async () => {
    const held = await hold({ currency: 'CHF' });
    const succeeded = async () => {
      const { body } = await service.get('/payments/summary?currency=CHF', held.user.options);
      return JSON.stringify(body);
    };
    await takeOnSite(held, 600);
    const before = await succeeded();
    expect(before).toContain('600');
    await takeOnSite(held, 300, true);
    const after = await succeeded();
    expect(after).toContain('900');
    expect(after).not.toContain('600');
  });

  test('are accepted until the hold ends, and refused afterwards', async () => {
    const held = await hold({ payment_method_id: AT_PAYPAL.holdForAnHour });
    await takeOnSite(held, 400);
    await service.advance(HOUR_SECONDS);
    const refused = service.control('POST', `/simulator/payments/${held.id}/captures`, { amount: 100 });
    await expect(refused).rejects.toThrow(/AUTHORIZATION_EXPIRED/);
    const { charges } = await service.ledger(held.id);
    expect(charges).toMatchObject([{ authorized: 1_000, captured: 400, released: 600 }]);
    expect(await view(held)).toMatchObject({ status: 'succeeded', total_cents: 400 });
  });

  test('keep the captured amount if the rest is voided', async () => {
    const held = await hold();
    await takeOnSite(held, 400);
    const { authorizations } = await orderAtPayPal(held);
    await service.settle();
    await atPayPal(service, `POST v2/payments/authorizations/${authorizations[0].id}/void`, {});
    expect((await orderAtPayPal(held)).authorizations).toMatchObject([{ status: 'VOIDED' }]);
    expect(await sync(held)).toMatchObject({ body: { status: 'succeeded', total_cents: 400 } });
  });
});

describe('a release after an unreported capture on PayPal’s site', () => {
  test.each(['drop', 'delay'] as const)('keeps the captured amount, with events in mode %s', async (mode) => {
    const held = await hold();
    await service.webhookMode(mode);
    await takeOnSite(held, 400);
    expect(await release(service, held.id, held.admin.options)).toMatchObject({
      status: 409,
      body: { code: 'INVALID_STATE', details: { status: 'succeeded', reason: 'captured', captured_cents: 400 } },
    });
    await service.webhookMode('normal');
    await service.advance(HOUR_SECONDS);
    const four = { status: 'succeeded', total_cents: 400, captured_cents: 400, refundable_cents: 400 };
    expect(await view(held)).toMatchObject(four);
    expect(await sync(held)).toMatchObject({ body: four });
    expect(await eventsOf(service, held.id)).toEqual([...SUCCEEDED_ONCE]);
    const { charges } = await service.ledger(held.id);
    expect(charges).toMatchObject([{ authorized: 1_000, captured: 400, released: 600 }]);
  });

  test('is looked up if the order cannot be read after the void', async () => {
    const held = await hold();
    await service.webhookMode('drop');
    await takeOnSite(held, 400);
    await service.fault({
      provider: AT_PAYPAL.slot,
      method: 'GET',
      path: '/v2/checkout',
      action: 'error_500',
      times: 4,
    });
    expect(await release(service, held.id, held.admin.options)).toMatchObject({ status: 202 });
    await service.clearFaults();
    await service.advance(5 * MINUTE_SECONDS);
    expect(await view(held)).toMatchObject({ status: 'succeeded', captured_cents: 400 });
    expect(await eventsOf(service, held.id)).toEqual([...SUCCEEDED_ONCE]);
  });
});

describe('a refund of a payment with several captures', () => {
  const sixAndThree = async (): Promise<Held & { readonly captures: readonly string[] }> => {
    const held = await hold();
    const captures = [await takeOnSite(held, 600), await takeOnSite(held, 300, true)];
    return { ...held, captures };
  };

  test('is counted if it is made at PayPal for the second capture', async () => {
    const held = await sixAndThree();
    const amount = { currency_code: 'USD', value: '2.00' };
    await atPayPal(service, `POST v2/payments/captures/${held.captures[1]}/refund`, { amount });
    await service.settle();
    expect(await view(held)).toMatchObject({ refunded_cents: 200, refundable_cents: 700, total_cents: 900 });
    await expectAgreement(service, held.id, held.admin);
    // 6.00 are left of the first capture and 1.00 of the second.
    expect(await refundOf(held, { amount_cents: 601 })).toMatchObject({
      status: 409,
      body: { details: { captures: [{ refundable_cents: 600 }, { refundable_cents: 100 }] } },
    });
  });

  test('is counted once if it is made at PayPal while the second capture’s event is missing', async () => {
    const held = await hold();
    await takeOnSite(held, 600);
    await service.webhookMode('drop');
    const second = await takeOnSite(held, 300, true);
    const amount = { currency_code: 'USD', value: '2.00' };
    await service.webhookMode('normal');
    await atPayPal(service, `POST v2/payments/captures/${second}/refund`, { amount });
    await service.settle();
    await sync(held);
    await service.advance(2 * MINUTE_SECONDS);
    expect(await view(held)).toMatchObject({ refunded_cents: 200, refundable_cents: 700, total_cents: 900 });
    await expectAgreement(service, held.id, held.admin);
  });

  test('is taken from the capture with the largest refundable amount', async () => {
    const held = await sixAndThree();
    for (const [amount_cents, from] of [
      [400, 0],
      [250, 1],
      [200, 0],
    ] as const) {
      expect(await refundOf(held, { amount_cents })).toMatchObject({ status: 201, body: { status: 'succeeded' } });
      const made = (await refundsAtProvider(service, held.id)).at(-1);
      expect(made).toMatchObject({ amount: amount_cents, charge: held.captures[from] });
    }
    expect(await view(held)).toMatchObject({ refunded_cents: 850, refundable_cents: 50 });
    expect(await refundOf(held)).toMatchObject({ status: 201, body: { amount_cents: 50 } });
    expect(await view(held)).toMatchObject({ refunded_cents: 900, refundable_cents: 0, refund_status: 'full' });
    await expectAgreement(service, held.id, held.admin);
  });

  test.each([{}, { amount_cents: 601 }])(
    'is refused and not sent to the provider if no single capture covers it (%j)',
    async (body) => {
      const held = await sixAndThree();
      expect(await refundOf(held, body)).toMatchObject({
        status: 409,
        body: {
          code: 'INVALID_STATE',
          details: {
            payment_id: held.id,
            refundable_cents: 900,
            captures: [{ refundable_cents: 600 }, { refundable_cents: 300 }],
          },
        },
      });
      expect(await refundsAtProvider(service, held.id)).toEqual([]);
      expect(await view(held)).toMatchObject({ refunded_cents: 0, refundable_cents: 900 });
    },
  );

  test('leaves its capture refundable if the refund fails at the provider', async () => {
    const held = await sixAndThree();
    await refundOf(held, { amount_cents: 600 });
    const [made] = await refundsAtProvider(service, held.id);
    await service.control('POST', `/simulator/refunds/${made?.id}`, { status: 'failed' });
    await service.settle();
    expect(await refundOf(held, { amount_cents: 600 })).toMatchObject({ status: 201 });
    expect(await view(held)).toMatchObject({ refunded_cents: 600, refundable_cents: 300 });
  });

  test('stays with the first capture if more is captured later', async () => {
    const held = await hold();
    const first = await takeOnSite(held, 600);
    expect(await refundOf(held, { amount_cents: 400 })).toMatchObject({ status: 201 });
    await takeOnSite(held, 300, true);
    expect(await view(held)).toMatchObject({ total_cents: 900, refunded_cents: 400, refundable_cents: 500 });
    expect(await refundOf(held, { amount_cents: 500 })).toMatchObject({
      body: { details: { captures: [{ refundable_cents: 200 }, { refundable_cents: 300 }] } },
    });
    expect(await refundsAtProvider(service, held.id)).toMatchObject([{ charge: first, amount: 400 }]);
  });
});

describe('a dispute of a second capture', () => {
  test('is read by a sync of the payment', async () => {
    const held = await hold();
    await takeOnSite(held, 600);
    const second = await takeOnSite(held, 300, true);
    await service.webhookMode('drop');
    await service.control('POST', `/simulator/payments/${second}/disputes`, { amount: 300 });
    await service.webhookMode('normal');
    expect(await sync(held)).toMatchObject({ body: { disputed_cents: 300, refundable_cents: 600 } });
  });
});

describe('a refund of a quarantined capture', () => {
  test('does not reduce the recorded capture, by event or by sync', async () => {
    const held = await hold();
    const first = await takeOnSite(held, 600);
    const second = await takeOnSite(held, 500);
    await service.control('POST', `/simulator/payments/${second}/refunds`, { amount: 500 });
    await service.settle();
    await sync(held);
    expect(await view(held)).toMatchObject({ captured_cents: 600, refunded_cents: 0, refundable_cents: 600 });
    expect(await refundOf(held)).toMatchObject({ status: 201, body: { amount_cents: 600 } });
    expect((await refundsAtProvider(service, held.id)).map(({ charge }) => charge)).toEqual([second, first]);
  });
});

describe('a lost dispute of a first capture', () => {
  test('leaves only the other capture refundable', async () => {
    const held = await hold();
    const first = await takeOnSite(held, 600);
    const second = await takeOnSite(held, 300, true);
    const { id } = await service.control('POST', `/simulator/payments/${first}/disputes`, { amount: 600 });
    await service.settle();
    await service.advance(HOUR_SECONDS);
    await service.control('POST', `/simulator/disputes/${id}`, { status: 'lost' });
    await service.settle();
    expect(await view(held)).toMatchObject({ lost_cents: 600, refundable_cents: 300 });
    expect(await refundOf(held)).toMatchObject({ status: 201, body: { amount_cents: 300 } });
    expect(await refundsAtProvider(service, held.id)).toMatchObject([{ charge: second, amount: 300 }]);
  });
});

describe('a single capture', () => {
  test.each([AT_STRIPE, AT_PAYPAL, AT_SQUARE])(
    'keeps its prices, its event and its refund at $slot',
    async (holding) => {
      const user = await signIn(service);
      const admin = await signInAdmin(service);
      const { id } = await heldPayment(service, user, { holding });
      expect(await capture(service, id, { ...admin.options, body: { amount_cents: 600 } })).toMatchObject({
        status: 200,
        body: { total_cents: 600, tax_cents: 100, subtotal_cents: 500, captured_cents: 600 },
      });
      await service.settle();
      expect(await release(service, id, admin.options)).toMatchObject({ status: 409 });
      expect(await refund(service, id, admin.options)).toMatchObject({ status: 201, body: { amount_cents: 600 } });
      // Square completes a refund a minute later.
      await service.advance(2 * MINUTE_SECONDS);
      expect(await eventsOf(service, id)).toEqual([...SUCCEEDED_ONCE, 'payment.refunded']);
    },
  );
});
