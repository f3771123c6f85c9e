/** @module The rights of the people of the merchant, by the service's table of scopes. */
import type { HistoryExchange, Person } from './history.ts';

/** True for platform admins and staff. */
export const isOfMerchant = ({ kind, staffRole }: Person): boolean => kind === 'admin' || staffRole !== undefined;

const CAPTURES = 'POST /payments/[^/]+/capture';
const CANCELS = 'POST /payments/intents/[^/]+/cancel';
const OPERATES = 'POST /subscriptions/[^/]+/(?:cancel|change|change/preview)|DELETE /subscriptions/[^/]+/change';

const STAFF_ROUTES = {
  finance: [CAPTURES, CANCELS, OPERATES, 'POST /payments/[^/]+/refunds'],
  operations: [CAPTURES, CANCELS, OPERATES, 'POST /payments/sync/[^/]+', 'POST /webhooks/logs/[^/]+/replay'],
} as const;

/** True if the role of the staff permits the request on records of others. Platform admins are not staff. */
export const mayAsStaff = (
  { staffRole }: Person,
  { method, path }: Pick<HistoryExchange, 'method' | 'path'>,
): boolean =>
  staffRole !== undefined &&
  STAFF_ROUTES[staffRole].some((route) => new RegExp(`^(?:${route})$`).test(`${method} ${path}`));
