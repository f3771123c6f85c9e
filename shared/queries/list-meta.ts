/** @module Schemas of `meta` in the envelopes of lists. Only the API document reads them. */

import * as z from 'zod';

const estimated = z
  .literal(false)
  .optional()
  .describe(
    'Present if `total` is an estimate: the list has more than 1,000 records, or its filter would have to read too many records.',
  );

export const paymentsMeta = z
  .object({
    page: z.int().describe('The requested page number.'),
    limit: z.int().describe('Payments per page.'),
    total: z
      .int()
      .describe('The number of payments of the whole list, with its filters. Exact for up to 1,000 payments.'),
    total_is_exact: estimated,
    hasMore: z.boolean().describe('True if another page follows.'),
    next_cursor: z.string().optional().describe('The `cursor` of the next page; absent on the last page.'),
  })
  .describe('The position of the page in the list.');

/** The `meta` of lists that have page numbers only in the envelope. */
export const pagesMeta = z
  .object({
    pagination: z
      .object({
        total: z
          .int()
          .describe('The number of records of the whole list, with its filters. Exact for up to 1,000 records.'),
        total_is_exact: estimated,
        page: z.int().describe('The requested page number.'),
        pageSize: z.int().describe('Records per page.'),
        totalPages: z.int().describe('How many pages `total` records fill.'),
      })
      .describe('The page among the pages of the list.'),
  })
  .describe('The position of the page in the list.');

/** The `meta` of lists with a cursor and without a total. */
export const cursorMeta = z
  .object({
    limit: z.int().describe('Records per page.'),
    has_more: z.boolean().describe('True if another page follows.'),
    next_cursor: z.string().nullable().describe('The `cursor` of the next page; null on the last page.'),
  })
  .describe('The position of the page in the list.');

export const summaryMeta = z
  .object({
    from: z.iso.date().describe('The first UTC day of the summary.'),
    to: z.iso.date().describe('The last UTC day of the summary, which is included.'),
    interval: z.string().describe('The requested length of the periods.'),
    group_by: z.string().describe('The requested grouping of the rows.'),
  })
  .describe('The range and the grouping of the rows.');

export const userContextSchema = z
  .object({
    authenticated: z.boolean().describe('True for a session or a service key, false for a guest token.'),
    user_id: z
      .string()
      .nullable()
      .describe(
        'The user of the session, or the user for whom a service key acts; null for a guest, and for a key without a user.',
      ),
    user_type: z
      .enum(['authenticated', 'guest'])
      .describe('`authenticated` for a session or a service key, `guest` for a guest token.'),
    user_email: z.string().nullable().describe('The e-mail address of the session or of the guest token.'),
    search_method: z
      .enum(['session', 'guest_token', 'organization', 'project'])
      .describe('The kind of owner of the listed payments: user, guest, organization or project.'),
  })
  .describe('The caller for whom the list was read.');
