/**
 * @module Lists payments from PayPal's event notifications, because PayPal cannot list orders. The service reads the
 * orders named in the events. An order without an event, such as an unapproved order, is missing.
 */

import * as z from 'zod';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import { DAY_MS, iso } from '../../core/time.ts';
import type { ListedPayment, ListingPort } from '../listing-port.ts';
import { readPayPalEvent } from './events.ts';
import { findPayPalOrder } from './orders.ts';
import { PAYPAL_NOT_FOUND, type PayPalCall } from './outcome.ts';
import { readPayPalOrder } from './report.ts';
import type { Order } from './schemas.ts';

const EVENTS = '/v1/notifications/webhooks-events';
const listAnswer = z.looseObject({
  events: z.optional(z.array(z.looseObject({ create_time: z.string() }))),
  links: z.optional(z.array(z.looseObject({ rel: z.string(), href: z.string() }))),
});

const PAGE_SIZE = '100';
const MAX_PAGES = 1_000;
/** PayPal does not document how long it keeps events. After 30 days they may be gone. */
const EVENTS_KEPT_MS = 30 * DAY_MS;
const UNREADABLE = { kind: 'unknown', reason: 'error' } as const;

export const paypalListing = (call: PayPalCall): ListingPort => ({
  leavesOut: 'orders without an event, such as those that no payer has approved, and events older than PayPal keeps',
  reachesBackMs: EVENTS_KEPT_MS,
  listPayments: async (since) => {
    const named = await namedOrders(call, since);
    if (named.kind !== 'done') return named;
    const payments: ListedPayment[] = [];
    for (const [orderId, firstEventAt] of named.value) {
      const order = await findPayPalOrder(call, orderId);
      if (order.kind === 'refused' && order.reason === PAYPAL_NOT_FOUND) continue;
      if (order.kind !== 'done') return order;
      payments.push(listed(order.value, firstEventAt));
    }
    return { kind: 'done', value: payments };
  },
});

/** The orders named in payment events, with the time of their first event, oldest first. */
const namedOrders = async (call: PayPalCall, since: string): Promise<Outcome<ReadonlyMap<string, string>>> => {
  const orders = new Map<string, string>();
  let query = `?${new URLSearchParams({ start_time: since, page_size: PAGE_SIZE })}`;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await call({ method: 'GET', path: `${EVENTS}${query}`, answer: listAnswer });
    if (page.kind !== 'done') return page;
    for (const event of page.value.events ?? []) {
      const orderId = orderOf(event);
      // PayPal lists the newest events first, so the time of the first event is set last.
      if (orderId !== undefined) orders.set(orderId, event.create_time);
    }
    const next = page.value.links?.find(({ rel }) => rel === 'next')?.href ?? '';
    const start = next.indexOf('?');
    if (start < 0) return mapOutcome({ kind: 'done', value: orders }, (found) => new Map([...found].toReversed()));
    query = next.slice(start);
  }
  return UNREADABLE;
};

const orderOf = (body: unknown): string | undefined => {
  const event = readPayPalEvent(body);
  if (!event?.type?.startsWith('payment_intent.')) return undefined;
  return event.object.intentId ?? (event.rawType.startsWith('CHECKOUT.ORDER.') ? event.object.id : undefined);
};

const listed = (order: Order, firstEventAt: string): ListedPayment => {
  const [unit] = order.purchase_units;
  const { captures = [], authorizations = [] } = unit?.payments ?? {};
  const attempt = captures.at(-1)?.create_time ?? authorizations.at(-1)?.create_time;
  return {
    report: readPayPalOrder(order, { status: 'created', method: undefined }),
    createdAt: iso(Date.parse(order.create_time ?? firstEventAt)),
    attemptedAt: attempt && iso(Date.parse(attempt)),
    customerId: undefined,
    description: unit?.description,
    captureMethod: order.intent === 'AUTHORIZE' ? 'manual' : undefined,
  };
};
