import { describe, expect, test } from 'vitest';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import { PAYMENT_STATUSES, type VisiblePayment } from '../../shared/payments/payment.ts';
import { paymentItem } from '../../shared/payments/payment-item.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import {
  findOpenPayment,
  openPaymentView,
  requireOpenPayment,
} from '../../shared/subscriptions/billing/open-payment.ts';
import { openCharge } from '../../shared/subscriptions/billing/subscription-charge.ts';
import { type Subscription, subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON, payment } from '../builders/payment.ts';
import { refusalIn } from '../builders/refusal.ts';
import { subscription } from '../builders/subscription.ts';

const period = { anchor: iso(NOON), period: 0, start: NOON, end: NOON + 31 * DAY_MS };
/** A past-due subscription whose first charge waits for its payer. */
const waiting = (fields: Partial<Subscription> = {}): Subscription => ({
  ...openCharge(subscription({ status: 'past_due' }), period, { cause: 'create', now: NOON }),
  ...fields,
});
const id = waiting().latestPaymentId ?? '';
const subscriptionId = waiting().id;
const open = (fields: Partial<VisiblePayment> = {}): VisiblePayment => payment({ id, subscriptionId, ...fields });

const service = async (stored: { readonly subscription?: Subscription; readonly payment?: VisiblePayment }) => {
  const { table } = memoryTable({ now: () => NOON });
  const store = (next: Subscription) => table.put(recordItem(subscriptionShape, next));
  if (stored.subscription) await store(stored.subscription);
  if (stored.payment) await table.put(paymentItem(stored.payment, NOON));
  return { table, store, now: () => NOON };
};

describe('the open payment of a subscription', () => {
  test.each(PAYMENT_STATUSES)('is the latest payment until it is settled: %s', async (status) => {
    const deps = await service({ payment: open({ status }) });
    const isOpen = status !== 'succeeded' && status !== 'canceled';
    expect((await findOpenPayment(deps, waiting()))?.status).toBe(isOpen ? status : undefined);
  });

  test('is undefined if the subscription is not past due, has no payment, or names a missing payment', async () => {
    const deps = await service({ payment: open() });
    expect(await findOpenPayment(deps, waiting({ status: 'active' }))).toBeUndefined();
    expect(await findOpenPayment(deps, waiting({ latestPaymentId: undefined }))).toBeUndefined();
    expect(await findOpenPayment(deps, waiting({ latestPaymentId: 'pay_other' }))).toBeUndefined();
  });

  test('is shown with its stored client secret and with the payer’s next step', () => {
    const nextAction = { type: 'redirect_to_url', url: 'https://a.example/' } as const;
    const asking = open({ status: 'pending', clientSecret: 'pi_1_secret', nextAction });
    expect(openPaymentView(asking, NOON)).toEqual({
      ...{ id, status: 'pending', client_secret: 'pi_1_secret', next_action: nextAction },
    });
    expect(openPaymentView(asking, NOON + 30 * DAY_MS).client_secret).toBeNull();
    expect(openPaymentView(open(), NOON)).toMatchObject({ client_secret: null, next_action: null });
  });
});

describe('the confirmation of a subscription’s payment', () => {
  const refused = async (of: Subscription | undefined, wanted = open()) => {
    const { table } = await service(of ? { subscription: of } : {});
    return refusalIn(requireOpenPayment(table, wanted));
  };

  test('needs no condition for a payment without a subscription', async () => {
    const { table } = await service({});
    expect(await requireOpenPayment(table, payment())).toEqual([]);
  });

  test.each<[string, Subscription, Subscription]>([
    ['the service bills', waiting(), waiting({ charge: undefined })],
    [
      'the provider bills',
      waiting({ billingOwner: 'provider', charge: undefined }),
      waiting({ billingOwner: 'provider', charge: undefined, latestPaymentId: 'pay_other' }),
    ],
    [
      'the provider bills, and the subscription is then paid',
      waiting({ billingOwner: 'provider', charge: undefined }),
      waiting({ billingOwner: 'provider', charge: undefined, status: 'active' }),
    ],
  ])(
    'is possible only while the subscription waits for this payment, which the write checks again: %s',
    async (_, was, next) => {
      const { table, store } = await service({ subscription: was });
      const conditions = await requireOpenPayment(table, open());
      expect((await table.transact(conditions)).ok).toBe(true);
      await store(next);
      expect((await table.transact(conditions)).ok).toBe(false);
    },
  );

  test.each<[string, Subscription | undefined]>([
    ['that does not exist', undefined],
    ['that is no longer past due', waiting({ status: 'active' })],
    ['that waits for another payment', waiting({ charge: undefined })],
    [
      'that the provider bills, and that waits for another payment',
      waiting({ billingOwner: 'provider', latestPaymentId: 'pay_other' }),
    ],
    [
      'that the provider bills, and that is no longer past due',
      waiting({ billingOwner: 'provider', status: 'paused' }),
    ],
  ])('is refused for a subscription %s', async (_, of) => {
    expect(await refused(of)).toMatchObject({
      code: 'INVALID_STATE',
      message: 'This is no longer the open payment of the subscription',
      details: { subscription_id: subscriptionId },
    });
  });

  test('is refused after the charge was abandoned', async () => {
    const { charge } = waiting();
    expect((await refused(waiting({ charge: charge && { ...charge, abandoned: true } }))).code).toBe('INVALID_STATE');
  });
});
