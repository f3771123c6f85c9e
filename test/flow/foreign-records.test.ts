import { describe, expect, test } from 'vitest';
import { atStripe } from './at-stripe.ts';
import { foreign } from './foreigners.ts';
import { withHost } from './host.ts';

/** The records of another integration at the simulated providers. */
const service = withHost({ frozen: true });

describe('records of another integration', () => {
  test('are returned in the order sent, and make no charge', async () => {
    const made = await foreign(service, {
      customers: [
        {
          email: 'old@example.com',
          payment_methods: [{ token: 'pm_card_visa', legacy: true }, { bank_account: true }],
          default_payment_method: 0,
        },
      ],
      subscriptions: [
        {
          customer: 0,
          items: [
            { unit_amount: 900, quantity: 2 },
            { unit_amount: 100, usage_type: 'metered' },
          ],
        },
        { customer: 0, items: [{ unit_amount: 500 }], status: 'past_due' },
      ],
    });
    expect(made.customers[0]?.payment_methods).toEqual([
      expect.stringMatching(/^card_/),
      expect.stringMatching(/^pm_/),
    ]);
    expect(made.subscriptions.map(({ items }) => items.length)).toEqual([2, 1]);
    const ledger = await service.ledger();
    expect(ledger.charges).toEqual([]);
    expect(ledger.subscriptions.map(({ amount, status }) => ({ amount, status }))).toEqual([
      { amount: 1_900, status: 'active' },
      { amount: 500, status: 'past_due' },
    ]);
    const shown = await atStripe(service, `GET customers/${made.customers[0]?.id}`);
    expect(shown).toMatchObject({ default_source: made.customers[0]?.payment_methods[0] });
  });

  test('are billed by the provider from their next period on', async () => {
    const anchor = new Date(service.now() - 40 * 86_400_000).toISOString();
    const { subscriptions } = await foreign(service, {
      customers: [{ payment_methods: [{ token: 'pm_card_visa' }], default_payment_method: 0 }],
      subscriptions: [{ customer: 0, items: [{ unit_amount: 700 }], billing_cycle_anchor: anchor }],
    });
    await service.advance(31 * 86_400);
    await service.settle();
    const { invoices } = await service.ledger();
    const own = invoices.filter(({ subscription }) => subscription === subscriptions[0]?.id);
    expect(own.map(({ status, paid_out_of_band }) => [status, paid_out_of_band])).toEqual([
      ['paid', true],
      ['paid', false],
    ]);
  });

  test('are all refused if the body is invalid', async () => {
    const wrong = { customers: [{ payment_methods: [{ token: 'no-such' }] }] };
    expect(await service.request('POST', '/_local/simulator/foreign', { body: wrong })).toMatchObject({ status: 400 });
    const unknown = { customers: [], extra: true };
    expect(await service.request('POST', '/_local/simulator/foreign', { body: unknown })).toMatchObject({
      status: 400,
    });
  });
});
