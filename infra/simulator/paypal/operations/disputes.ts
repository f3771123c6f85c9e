/** @module Disputes by payers, as the seller reads them. */

import * as z from 'zod';
import type { LedgerDispute } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Answer } from '../../protocol/vendor.ts';
import { API } from '../views/fields.ts';
import { disputeState, disputeSummary, paypalDisputeView } from '../views/money-back-views.ts';
import { malformed, paypalNotFound } from '../wire/errors.ts';
import { answer, type PayPalRequest, type PayPalRoute, readPayPalQuery } from '../wire/request.ts';

const DISPUTES = '/v1/customer/disputes';

export const paypalDisputeRoutes: readonly PayPalRoute[] = [
  { method: 'GET', path: DISPUTES, run: (request) => listDisputes(request) },
  { method: 'GET', path: `${DISPUTES}/:id`, run: (request) => readDispute(request) },
];

const STATES = [
  'REQUIRED_ACTION',
  'REQUIRED_OTHER_PARTY_ACTION',
  'UNDER_PAYPAL_REVIEW',
  'RESOLVED',
  'OPEN_INQUIRIES',
  'APPEALABLE',
] as const;

const time = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .optional();

const listQuery = z.strictObject({
  disputed_transaction_id: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[0-9A-Z_]+$/)
    .optional(),
  start_time: time,
  create_time_after: time,
  create_time_before: time,
  update_time_after: time,
  update_time_before: time,
  /** Several states, separated by commas. */
  dispute_state: z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(STATES)))
    .optional(),
  page: z.coerce.number().int().min(1).max(50).default(1),
  page_size: z.coerce.number().int().min(1).max(50).default(10),
});
type ListQuery = z.output<typeof listQuery>;

/** Newest first. */
const listDisputes = ({ call, unit }: PayPalRequest): Answer => {
  const query = readPayPalQuery(call, listQuery);
  requireOneOf(query);
  requireRecent(unit, query);
  const found = candidates(unit, query).filter((dispute) => isAsked(unit, dispute, query));
  const { page, page_size: size } = query;
  const link = (rel: string, number: number) => ({
    href: `${API}${DISPUTES}?${new URLSearchParams([...withoutPage(call.query), ['page', String(number)]])}`,
    rel,
    method: 'GET',
  });
  return answer(200, {
    items: found.slice((page - 1) * size, page * size).map(disputeSummary),
    links: [link('self', page), link('first', 1), ...(found.length > page * size ? [link('next', page + 1)] : [])],
  });
};

const withoutPage = (query: URLSearchParams): [string, string][] => [...query].filter(([name]) => name !== 'page');

const requireOneOf = ({ start_time: start, disputed_transaction_id: transaction }: ListQuery): void => {
  if (start === undefined || transaction === undefined) return;
  throw malformed([
    {
      issue: 'INVALID_PARAMETER_VALUE',
      description: 'You can specify either but not both the start_time and disputed_transaction_id query parameter.',
      field: 'start_time',
      location: 'query',
    },
  ]);
};

const HISTORY_MS = 180 * 86_400_000;
const RECENT = ['start_time', 'update_time_after', 'update_time_before'] as const;

const requireRecent = (unit: Unit, query: ListQuery): void => {
  const early = RECENT.filter((name) => (query[name] ?? unit.at) < unit.at - HISTORY_MS);
  if (early.length === 0) return;
  throw malformed(
    early.map((field) => ({
      issue: 'INVALID_PARAMETER_VALUE',
      description: 'Must be within the last 180 days.',
      field,
      location: 'query' as const,
    })),
  );
};

const MANY = 1_000;

const candidates = (unit: Unit, { disputed_transaction_id: transaction }: ListQuery): LedgerDispute[] => {
  const { charges, disputes } = unit.documents;
  if (transaction === undefined) return disputes.list(unit.slot, { limit: MANY });
  const holder = charges.get(unit.slot, transaction)?.paymentId;
  if (holder === undefined) return [];
  return disputes.list(unit.slot, { holder, limit: MANY }).filter(({ chargeId }) => chargeId === transaction);
};

/**
 * A query by transaction returns all disputes of the transaction. Other queries return the last 180 days by default.
 */
const isAsked = (unit: Unit, dispute: LedgerDispute, query: ListQuery): boolean => {
  const { createdAt, updatedAt } = dispute;
  const since = query.disputed_transaction_id === undefined ? (query.start_time ?? unit.at - HISTORY_MS) : 0;
  const { dispute_state: states } = query;
  return (
    createdAt >= since &&
    isBetween(createdAt, query.create_time_after, query.create_time_before) &&
    isBetween(updatedAt, query.update_time_after, query.update_time_before) &&
    (states === undefined || states.some((state) => state === disputeState(dispute)))
  );
};

const isBetween = (at: number, after = 0, before = Number.POSITIVE_INFINITY): boolean => at >= after && at <= before;

const readDispute = ({ unit, id }: PayPalRequest): Answer => {
  const dispute = unit.documents.disputes.get(unit.slot, id);
  if (!dispute) throw paypalNotFound();
  return answer(200, paypalDisputeView(unit, dispute));
};
