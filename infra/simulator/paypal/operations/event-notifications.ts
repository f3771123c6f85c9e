/** @module PayPal's list of created event notifications, newest first. A link leads to the next page. */

import * as z from 'zod';
import type { LedgerEvent } from '../../ledger/documents.ts';
import type { Answer } from '../../protocol/vendor.ts';
import { API } from '../views/fields.ts';
import { answer, type PayPalRequest, type PayPalRoute, readPayPalQuery } from '../wire/request.ts';

const EVENTS = '/v1/notifications/webhooks-events';

export const eventNotificationRoutes: readonly PayPalRoute[] = [
  { method: 'GET', path: EVENTS, run: (request) => listNotifications(request) },
];

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** The last three fields occur only in PayPal's own page links. */
const listQuery = z.strictObject({
  page_size: z.coerce.number().int().min(1).default(10),
  start_time: time.optional(),
  end_time: time.optional(),
  event_type: z.string().min(1).optional(),
  move_to: z.literal('next').optional(),
  index_time: z.string().optional(),
  index_id: z.string().optional(),
});

const KEPT_MS = 30 * 86_400_000;
const MANY = 100_000;

const listNotifications = ({ call, unit }: PayPalRequest): Answer => {
  const query = readPayPalQuery(call, listQuery);
  const from = Math.max(query.start_time ?? 0, unit.at - KEPT_MS);
  const found = unit.documents.events
    .list(unit.slot, { limit: MANY, after: query.index_id })
    .filter(({ createdAt }) => createdAt >= from && createdAt <= (query.end_time ?? unit.at))
    .filter(({ type }) => query.event_type === undefined || type === query.event_type);
  const shown = found.slice(0, query.page_size);
  const last = shown.at(-1);
  const isLast = last === undefined || found.length === shown.length;
  return answer(200, {
    events: shown.map(({ body }): unknown => JSON.parse(body)),
    count: shown.length,
    links: isLast ? [] : [{ href: `${API}${EVENTS}?${nextPage(call.query, last)}`, rel: 'next', method: 'GET' }],
  });
};

const nextPage = (query: URLSearchParams, { id, createdAt }: LedgerEvent): URLSearchParams => {
  const next = new URLSearchParams(query);
  next.set('move_to', 'next');
  next.set('index_time', new Date(createdAt).toISOString());
  next.set('index_id', id);
  return next;
};
