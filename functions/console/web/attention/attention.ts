/**
 * @module Counts of the records needing action today, for the overview list and the badges in the navigation. Each
 * count needs the same scope as the records' page.
 */

import { effect, signal } from '@preact/signals';
import { answerOf, api, nextCursor } from '../api/client.ts';
import { serviceNow } from '../api/local.ts';
import { may, session } from '../api/session.ts';
import type { Scope, WebhookLog } from '../api/types.ts';
import { readEndingHolds } from '../holds/ending-holds.ts';
import { type Counted, countPages } from './counted.ts';

interface Kind {
  readonly scope: Scope;
  /** The navigation page with the count in its badge. */
  readonly page: string;
  /** The path of the counted list, below /console. */
  readonly to: string;
  readonly title: string;
  /** The title for a count of one. */
  readonly one: string;
  /** The text that says what to do. */
  readonly about: string;
  readonly read: () => Promise<Counted>;
}

export interface Need extends Pick<Kind, 'page' | 'to' | 'title' | 'one' | 'about'> {
  /** Undefined if the count could not be read. */
  readonly counted: Counted | undefined;
}

const countDisputes = (): Promise<Counted> =>
  countPages(async (cursor) => {
    const query = { status: 'needs_response' as const, limit: 100, cursor };
    const { data } = await answerOf(api.GET('/disputes', { params: { query } }));
    return { rows: data.data, next: nextCursor(data.meta) };
  });

/** Uses the summary, because a list by status would read all subscriptions. */
const countPastDue = async (): Promise<Counted> => {
  const today = new Date(serviceNow()).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const { data } = await answerOf(api.GET('/admin/summary', { params: { query: { from: today, to: today } } }));
  const found = data.meta.totals.reduce((sum, { past_due_subscriptions: pastDue = 0 }) => sum + pastDue, 0);
  return { count: found, isPartial: false };
};

const DAY_MS = 86_400_000;

const readLog = async (status: WebhookLog['status']): Promise<readonly WebhookLog[]> => {
  const { data } = await answerOf(api.GET('/webhooks/logs', { params: { query: { status, limit: 100 } } }));
  return data.filter(({ direction }) => direction === 'outbound');
};

/** Counts the targets whose newest attempt of the last 24 hours failed. */
const countFailingTargets = async (): Promise<Counted> => {
  const [failed, delivered] = await Promise.all([readLog('failed'), readLog('success')]);
  const since = new Date(serviceNow() - DAY_MS).toISOString();
  const recent = failed.filter(({ created_at: at }) => at >= since);
  const isFailing = ({ target, created_at: at }: WebhookLog): boolean =>
    !delivered.some((one) => one.target === target && one.created_at > at);
  const failing = new Set(recent.filter(isFailing).map(({ target }) => target));
  return { count: failing.size, isPartial: false };
};

const KINDS: readonly Kind[] = [
  {
    scope: 'payments:read',
    page: '/disputes',
    to: '/disputes?status=needs_response',
    title: 'Disputes due',
    one: 'Dispute due',
    about: 'Give evidence at the provider before the date that it sets.',
    read: countDisputes,
  },
  {
    scope: 'payments:read',
    page: '/payments',
    to: '/payments?status=requires_capture',
    title: 'Holds ending',
    one: 'Hold ending',
    about: 'Within 24 hours: capture or release them.',
    read: () => countPages(readEndingHolds),
  },
  {
    scope: 'payments:read',
    page: '/subscriptions',
    to: '/subscriptions?status=past_due',
    title: 'Past-due subscriptions',
    one: 'Past-due subscription',
    about: 'A charge failed: the payer needs another method.',
    read: countPastDue,
  },
  {
    scope: 'webhooks:read',
    page: '/webhooks',
    to: '/webhooks?status=failed',
    title: 'Failing targets',
    one: 'Failing target',
    about: 'Your systems did not accept the newest event.',
    read: countFailingTargets,
  },
];

/** Undefined until the first read has ended. */
export const needs = signal<readonly Need[] | undefined>(undefined);

effect(() => {
  if (!session.value) needs.value = undefined;
});

/** Reads the counts visible to the user. One failed count does not hide the others. */
export const readNeeds = async (): Promise<void> => {
  const asking = session.value;
  const found = await Promise.all(
    KINDS.filter(({ scope }) => may(scope)).map(async ({ read, page, to, title, one, about }): Promise<Need> => {
      return { page, to, title, one, about, counted: await read().catch(() => undefined) };
    }),
  );
  if (session.value === asking) needs.value = found;
};

/** The number of a page's records needing action; 0 while unknown. */
export const needsOf = (page: string): number => needs.value?.find((need) => need.page === page)?.counted?.count ?? 0;
