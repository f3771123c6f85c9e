/** @module Lists the location's payments at Square. Square has no payment before the charge, only an order. */

import * as z from 'zod';
import type { Outcome } from '../../core/outcome.ts';
import { iso } from '../../core/time.ts';
import type { ListedPayment, ListingPort } from '../listing-port.ts';
import type { ProviderPayment } from '../payment-port.ts';
import type { SquareAccount } from './payments.ts';
import { decisive, orderHeldFor, readSquarePayment } from './report.ts';
import { squarePaymentSchema } from './schemas.ts';

const listedSchema = squarePaymentSchema.extend({
  created_at: z.iso.datetime({ offset: true }),
  customer_id: z.nullish(z.string()),
  note: z.nullish(z.string()),
});
const listAnswer = z.looseObject({ payments: z.nullish(z.array(listedSchema)), cursor: z.nullish(z.string()) });
type SquareListed = z.infer<typeof listedSchema>;

/** Square's largest page. */
const PAGE = '100';
const MAX_PAGES = 1_000;
const UNREADABLE = { kind: 'unknown', reason: 'error' } as const;

export const squareListing = (account: SquareAccount): ListingPort => ({
  leavesOut: 'orders without a charge',
  reachesBackMs: undefined,
  listPayments: async (since) => {
    const payments = await everyPayment(account, since);
    if (payments.kind !== 'done') return payments;
    return { kind: 'done', value: [...byOrder(account, payments.value).values()].map(decided) };
  },
});

const everyPayment = async (
  { call, locationId }: SquareAccount,
  since: string,
): Promise<Outcome<readonly SquareListed[]>> => {
  const found: SquareListed[] = [];
  let cursor: string | null | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const query = new URLSearchParams({
      ...{ location_id: locationId, begin_time: since, sort_order: 'ASC', limit: PAGE },
      ...(cursor && { cursor }),
    });
    const page = await call({ method: 'GET', path: `/v2/payments?${query}`, answer: listAnswer });
    if (page.kind !== 'done') return page;
    found.push(...(page.value.payments ?? []));
    cursor = page.value.cursor;
    if (!cursor) return { kind: 'done', value: found };
  }
  return UNREADABLE;
};

/** Groups attempts by their order. A hold belongs to the order whose amount it holds. The oldest order comes first. */
const byOrder = ({ fingerprintOf }: SquareAccount, payments: readonly SquareListed[]) => {
  const orders = new Map<string, ListedPayment[]>();
  for (const payment of payments) {
    const heldFor = orderHeldFor(payment.note);
    const one: ListedPayment = {
      report: readSquarePayment(payment, fingerprintOf, heldFor),
      createdAt: iso(Date.parse(payment.created_at)),
      attemptedAt: iso(Date.parse(payment.created_at)),
      customerId: payment.customer_id ?? undefined,
      description: undefined,
      captureMethod: heldFor === undefined ? undefined : 'manual',
    };
    orders.set(one.report.intentId, [...(orders.get(one.report.intentId) ?? []), one]);
  }
  return orders;
};

const decided = (attempts: readonly ListedPayment[]): ListedPayment => {
  const report: ProviderPayment | undefined = decisive(attempts.map((one) => one.report));
  const [first] = attempts;
  const deciding = attempts.find((one) => one.report === report);
  if (!first || !deciding) throw new Error('an order without an attempt was listed');
  return { ...deciding, createdAt: first.createdAt };
};
