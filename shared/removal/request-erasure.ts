/** @module Requests the erasure of a person, which due work carries out. At most one erasure runs per person. */

import * as z from 'zod';
import { actorOfCaller } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import type { Log } from '../core/logger.ts';
import { iso } from '../core/time.ts';
import { createOnce } from '../http/create-once.ts';
import { emailSchema, idParameter, requiredRule } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { erasureKey } from '../platform/keys.ts';
import type { StoreDeps } from '../platform/table.ts';
import { firstVersion, versionedRecord } from '../platform/versioned-record.ts';
import { type ErasureJob, erasureShape, erasureView, jobOf, lockKeyOf, type Subject } from './erasure-job.ts';

export const erasureBody = z
  .object({
    user_id: idParameter.describe('The user whose records are erased.'),
    email: emailSchema.optional().describe('The e-mail address whose guest records are erased.'),
  })
  .refine(({ user_id: userId, email }) => (userId === undefined) !== (email === undefined), {
    ...requiredRule('user_id', 'must be sent without email, or email without user_id'),
    when: ({ issues }) => issues.length === 0,
  })
  .meta({ id: 'RequestErasure', description: 'The person to erase: exactly one of `user_id` and `email`.' });
type ErasureBody = z.output<typeof erasureBody>;

interface RequestDeps extends StoreDeps, IdDeps {
  readonly log: Log;
}

/** Starts an erasure. If an erasure of the person is already running, returns that job. */
export const requestErasure = async (
  deps: RequestDeps,
  { body, caller, idempotency }: ApiRequest<unknown, unknown, ErasureBody>,
): Promise<Reply> => {
  const subject: Subject =
    body.user_id === undefined ? { kind: 'email', email: body.email ?? '' } : { kind: 'user', userId: body.user_id };
  const { job, replayed } = await startErasure(deps, subject, { by: actorOfCaller(caller, true).id, idempotency });
  return { data: erasureView(job), ...(replayed && { headers: { 'idempotent-replayed': 'true' } }) };
};

/**
 * Starts an erasure, unless one of this person is running. Logs the request, because a restore of the table loses the
 * job but not the log. The log line has no e-mail address.
 * @returns the person's running job, new or existing
 */
export const startErasure = async (
  deps: RequestDeps,
  subject: Subject,
  { by, idempotency }: Pick<Made, 'by' | 'idempotency'>,
): Promise<{ readonly job: ErasureJob; readonly replayed: boolean }> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      const { record, replayed } = await createOnce(deps, {
        store: versionedRecord(deps, erasureShape),
        beside: ({ id }) => [{ put: { ...lockKeyOf(subject), erasureId: id }, if: [{ absent: true }] }],
        kind: 'erasure',
        idempotency,
        build: async (id) => newJob(subject, { id, at: iso(deps.now()), by, idempotency }),
      });
      const person = subject.kind === 'user' ? `user:${subject.userId}` : subject.kind;
      if (!replayed) deps.log.info('erasure requested', { erasure_id: record.id, record: person, actor_id: by });
      return { job: record, replayed };
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'VERSION_CONFLICT') throw error;
    }
    // Another erasure of the person runs.
    const running = await findRunningErasure(deps, subject);
    if (running) return { job: running, replayed: false };
  }
  throw new DomainError('VERSION_CONFLICT');
};

/** A running job may end between the conflict and the lookup, so the creation is tried again. */
const TRIES = 3;

const lockSchema = z.object({ erasureId: z.string() });

/** The person's running job, if any. */
export const findRunningErasure = async (
  { table }: Pick<StoreDeps, 'table'>,
  subject: Subject,
): Promise<ErasureJob | undefined> => {
  const lock = await table.get(lockKeyOf(subject));
  const item = lock && (await table.get(erasureKey(lockSchema.parse(lock).erasureId)));
  return item && jobOf(item);
};

interface Made {
  readonly id: string;
  readonly at: string;
  /** The id of the user or service key that requests the erasure. */
  readonly by: string;
  readonly idempotency: ApiRequest['idempotency'];
}

const newJob = (subject: Subject, { id, at, by, idempotency }: Made): ErasureJob => ({
  id,
  ...firstVersion(at, idempotency),
  status: 'pending',
  ...(subject.kind === 'user' ? { userId: subject.userId } : { email: subject.email }),
  requestedBy: by,
  counts: {},
  step: 0,
  failed: 0,
  changedAt: at,
  dueAt: at,
});
