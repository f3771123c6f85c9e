import type { History } from './history.ts';
import { at, recordsOf } from './records.ts';

/** An erasure that may have run, according to its request and its job. */
export interface Erasure {
  /** Undefined if the guests of an e-mail address are erased. */
  readonly userId: string | undefined;
  /** The e-mail address of the guests or of the user. */
  readonly email: string | undefined;
  /** Times are epoch ms. */
  readonly requestedAt: number;
  /** Infinity while it runs, or if its response was lost. */
  readonly doneAt: number;
}

const kept = new WeakMap<History['exchanges'], readonly Erasure[]>();

export const erasuresOf = (history: History): readonly Erasure[] => {
  const known = kept.get(history.exchanges) ?? read(history);
  kept.set(history.exchanges, known);
  return known;
};

const read = (history: History): readonly Erasure[] => {
  const jobs = new Map(recordsOf(history).erasures.map((job) => [job['id'], job]));
  const emails = new Map(history.people.map(({ userId, email }) => [userId, email]));
  return history.exchanges
    .filter(({ path, status }) => path === '/admin/erasures' && (status < 400 || status >= 500))
    .map(({ sent, body, sentAt }) => {
      const { completedAt } = jobs.get(body?.data?.id) ?? {};
      return {
        userId: sent?.user_id,
        email: sent?.email ?? emails.get(sent?.user_id),
        requestedAt: sentAt,
        doneAt: completedAt === undefined ? Number.POSITIVE_INFINITY : at(completedAt),
      };
    });
};

interface ErasableRecord {
  readonly userId?: string | undefined;
  readonly guestEmail?: string | undefined;
  readonly organizationId?: string | undefined;
}

/** True if the record is a personal record of the erased person. */
export const isErasedBy = ({ userId, email }: Erasure, { organizationId, ...record }: ErasableRecord): boolean => {
  if (organizationId !== undefined) return false;
  if (userId !== undefined) return record.userId === userId;
  return email !== undefined && record.guestEmail === email;
};
