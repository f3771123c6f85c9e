/** @module Reads the overview's sums. Staff and platform admins get all payments, and other users get their own. */

import { answerOf, api } from '../api/client.ts';
import { may } from '../api/session.ts';
import type { RecurringRow, SummaryRow, SummaryTotal } from '../api/types.ts';
import type { CsvButton } from '../view/csv-button.tsx';
import { place } from '../view/route.tsx';
import { intervalOf, type Range, rangeBefore } from './range.ts';

export const organizationInAddress = (): string | undefined => place.value.query.get('organization') || undefined;

/**
 * The organization of the requests. An empty string requests only the caller's own records, whatever the session's
 * organization is.
 */
export const ownerAsked = (): string => organizationInAddress() ?? '';

export const isOfAll = (): boolean => may('payments:read') && organizationInAddress() === undefined;

/** The rows grouped by currency (`bySuccess`) and by status (`byStatus`). Only `byStatus` counts failed payments. */
export interface Rows {
  readonly bySuccess: readonly SummaryRow[];
  readonly byStatus: readonly SummaryRow[];
}

export interface Summary extends Rows {
  /** The rows of the preceding period of the same length. */
  readonly before: Rows;
  /** Figures that exist only for all payments, such as net, first payments and recurring revenue. */
  readonly all?: { readonly totals: readonly SummaryTotal[]; readonly recurring: readonly RecurringRow[] } | undefined;
}

type Group = 'currency' | 'status';

const askOwners = async (range: Range, group_by: Group): Promise<readonly SummaryRow[]> => {
  const query = { ...range, interval: intervalOf(range), group_by, organization_id: ownerAsked() };
  return (await answerOf(api.GET('/payments/summary', { params: { query } }))).data.data;
};

const askAll = async (range: Range, group_by: Group) => {
  const query = { ...range, interval: intervalOf(range), group_by };
  return (await answerOf(api.GET('/admin/summary', { params: { query } }))).data;
};

export const readSummary = (range: Range): Promise<Summary> => (isOfAll() ? readOfAll(range) : readOfOwner(range));

const readOfAll = async (range: Range): Promise<Summary> => {
  const [successes, statuses] = await Promise.all([askAll(range, 'currency'), askAll(range, 'status')]);
  return {
    bySuccess: successes.data,
    byStatus: statuses.data,
    before: { bySuccess: earlierRows(successes.meta.totals), byStatus: earlierRows(statuses.meta.totals) },
    all: { totals: successes.meta.totals, recurring: successes.meta.subscriptions ?? [] },
  };
};

const earlierRows = (totals: readonly SummaryTotal[]): readonly SummaryRow[] =>
  totals.map(({ currency, status, before }) => ({ period: '', currency, status, ...before }));

const readOfOwner = async (range: Range): Promise<Summary> => {
  const earlier = rangeBefore(range);
  const [bySuccess, byStatus, successesBefore, statusesBefore] = await Promise.all([
    askOwners(range, 'currency'),
    askOwners(range, 'status'),
    askOwners(earlier, 'currency'),
    askOwners(earlier, 'status'),
  ]);
  return { bySuccess, byStatus, before: { bySuccess: successesBefore, byStatus: statusesBefore } };
};

type CsvRequest = Parameters<typeof CsvButton>[0]['ask'];

export const askCsv =
  (range: Range): CsvRequest =>
  ({ cursor, headers }) => {
    const query = { ...range, interval: intervalOf(range), group_by: 'currency' as const, cursor };
    return isOfAll()
      ? api.GET('/admin/summary', { headers, parseAs: 'text', params: { query } })
      : api.GET('/payments/summary', {
          headers,
          parseAs: 'text',
          params: { query: { ...query, organization_id: ownerAsked() } },
        });
  };
