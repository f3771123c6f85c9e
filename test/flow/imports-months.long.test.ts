import { describe, expect, test } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { signIn } from './flow.ts';
import { type ForeignFields, foreign, importer, tryImport } from './foreigners.ts';
import { withHost } from './host.ts';
import { payctlOf } from './payctl.ts';
import { plan } from './plan-changes.ts';

/** Sixty days after an import, with plan changes in the period of the import. */
const service = withHost({ frozen: true });

const DAY = 86_400;
const MINUTES = 60_000;
const CENTS = 2_900;

const TERMS: readonly ForeignFields[] = [
  {},
  { items: [{ unit_amount: CENTS, interval: 'week' }] },
  { items: [{ unit_amount: CENTS, quantity: 2 }] },
  { coupon: { percent_off: 25, duration: 'forever' } },
  { coupon: { amount_off: 400, duration: 'forever' } },
  { status: 'past_due' },
  { cancel_at_period_end: true },
  { trial_end: 9 },
];

describe('sixty days after an import', () => {
  test(
    'each period was charged once by exactly one biller, and the ledger equals the payments',
    async () => {
      const [who, payctl] = [await importer(service), payctlOf(service)];
      const anchor = new Date(service.now() - 12 * DAY * 1_000).toISOString();
      const trialEnd = new Date(service.now() + 9 * DAY * 1_000).toISOString();
      const made = await foreign(service, {
        customers: TERMS.map(() => ({ payment_methods: [{ token: 'pm_card_visa' }], default_payment_method: 0 })),
        subscriptions: TERMS.map(({ trial_end, ...terms }, customer) => ({
          ...{ customer, items: [{ unit_amount: CENTS }] },
          ...(trial_end ? { trial_end: trialEnd } : { billing_cycle_anchor: anchor }),
          ...terms,
        })),
      });
      const users = await Promise.all(TERMS.map(() => signIn(service, { expires_in: YEAR_SECONDS })));
      const rows = users.map(({ userId }, index) => ({
        provider_customer_id: present(made.customers[index]).id,
        owner: `user:${userId}`,
        ...(index === 0 && {
          start: {
            ...{ reference: 'other biller', payment_method: present(made.customers[0]).payment_methods[0] },
            ...{
              source_ended: true,
              subtotal_cents: 700,
              total_cents: 700,
              currency: 'USD',
              billing_interval: 'monthly',
            },
            paid_until: new Date(service.now() + 20 * DAY * 1_000).toISOString(),
          },
        }),
      }));
      for (const row of rows) {
        const { status, body } = await tryImport(service, who, [row]);
        expect({ status, body }).toMatchObject({ status: 200, body: { data: { counts: { refused: 0, manual: 0 } } } });
      }
      const [dearer, cheaper] = [await plan(service, 4_900), await plan(service, 900)];
      for (const [index, product_id, when] of [
        [0, dearer, 'now'],
        [3, cheaper, 'period_end'],
      ] as const) {
        const user = present(users[index]);
        const [one] = (await service.get('/subscriptions', user.options)).body.filter(
          ({ billing_owner }) => billing_owner === 'provider',
        );
        const changed = await service.post(
          `/subscriptions/${present(one).id}/change`,
          { product_id, when },
          user.options,
        );
        expect({ status: changed.status, body: changed.body }).toMatchObject({ status: 200 });
      }
      for (let day = 0; day < 60; day += 2) {
        await service.advance(2 * DAY);
        await service.settle();
      }
      const ledger = await service.ledger();
      const charges = ledger.charges.filter(({ status }) => status === 'succeeded');
      const payments: { id: string; total: number; period: string }[] = [];
      for (const { options } of users) {
        const { body } = await service.get('/payments?limit=50', options);
        for (const one of body.data) {
          if (one.status === 'succeeded') {
            payments.push({
              id: one.id,
              total: one.total_cents,
              period: `${one.subscription_id} ${one.created_at.slice(0, 10)}`,
            });
          }
        }
      }
      const byId = (list: readonly { id: string; total: number }[]) =>
        list.map(({ id, total }) => `${id} ${total}`).toSorted();
      expect(byId(charges.map(({ payment_id, captured }) => ({ id: String(payment_id), total: captured })))).toEqual(
        byId(payments),
      );
      // No subscription is charged twice on one day. A plan change is charged within its period.
      expect(new Set(payments.map(({ period }) => period)).size).toBe(payments.length);
      const expected = [1 + 2 + 2, 9, 2, 2, 2, 3, 0, 2];
      const counts = await Promise.all(
        users.map(
          async ({ options }) =>
            (await service.get('/payments?limit=50', options)).body.data.filter(({ status }) => status === 'succeeded')
              .length,
        ),
      );
      expect(counts).toEqual(expected);
      const { json } = await payctl(['drift']);
      expect(json).toMatchObject({ drifted: 0 });
    },
    20 * MINUTES,
  );
});
