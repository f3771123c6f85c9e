/**
 * @module The erasure of a person, as a job that due work does in slices. At most one job runs per person. The job
 * stores its position after each slice, and keeps no e-mail address when it is done.
 */

import * as z from 'zod';
import { notFound } from '../core/errors.ts';
import { timestamp } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { erasureKey, erasureLockKey, type Key } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { asVersion, storedRecordFields, type VersionedShape } from '../platform/versioned-record.ts';

const ERASURE_STATUSES = ['pending', 'running', 'done'] as const;

/** A job counts the records that it has blanked or removed, and the copies that it has blanked in other items. */
const COUNTED = [
  'subscriptions',
  'payments',
  'refunds',
  'payment_methods',
  'customers',
  'addresses',
  'memberships',
  'webhook_logs',
  'provider_events',
  'webhook_deliveries',
  'stored_answers',
] as const;
export type Counted = (typeof COUNTED)[number];

const countsSchema = z.partialRecord(z.enum(COUNTED), z.int());

const optional = z.string().optional();

const jobSchema = z.object({
  ...storedRecordFields,
  status: z.enum(ERASURE_STATUSES),
  /** The person, a user or all guests with one e-mail address. The address is removed when the job is done. */
  userId: optional,
  email: optional,
  requestedBy: z.string(),
  counts: countsSchema,
  /** The current step, counted from 0, and the start of its next slice. */
  step: z.int(),
  after: z.record(z.string(), z.string()).optional(),
  /** Number of records in this pass that could not be erased now. */
  failed: z.int(),
  /** When this pass of the step began. */
  passAt: optional,
  /** When the job last changed an item. */
  changedAt: z.string(),
  completedAt: optional,
  /** When the next slice is due. Undefined if no work is left. */
  dueAt: optional,
});
export type ErasureJob = z.infer<typeof jobSchema>;

export type Subject =
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'email'; readonly email: string };

/** @throws Error if the job is done, because it no longer knows its person */
export const erasedSubject = ({ userId, email }: Pick<ErasureJob, 'userId' | 'email'>): Subject => {
  if (userId !== undefined) return { kind: 'user', userId };
  if (email === undefined) throw new Error('an erasure that is done knows no person');
  return { kind: 'email', email };
};

export const lockKeyOf = (subject: Subject): Key =>
  erasureLockKey(subject.kind, subject.kind === 'user' ? subject.userId : subject.email);

export const jobOf = (item: Item): ErasureJob => jobSchema.parse({ ...item, dueAt: item['due_at'] });

export const erasureShape: VersionedShape<ErasureJob> = {
  key: erasureKey,
  parse: jobOf,
  attributes: ({ dueAt: _, ...attributes }) => attributes,
  asRead: asVersion,
  dueAt: ({ dueAt }) => dueAt,
};

export const erasureView = (job: ErasureJob) => ({
  id: job.id,
  status: job.status,
  counts: Object.fromEntries(COUNTED.map((name) => [name, job.counts[name] ?? 0])),
  created_at: job.createdAt,
  completed_at: job.completedAt ?? null,
});

/** The last kinds count copies of the person's data, not records. */
const countText = (name: Counted): string =>
  `How many ${name.replaceAll('_', ' ')} of the person were blanked or removed so far.`;

export const erasureViewSchema = z
  .object({
    id: z.string().describe('Id of the erasure, `ers_…`.'),
    status: z
      .enum(ERASURE_STATUSES)
      .describe(
        '`pending`: not started; `running`: under way, also while it waits for a charge; `done`: nothing is left.',
      ),
    counts: z
      .object(Object.fromEntries(COUNTED.map((name) => [name, z.int().nonnegative().describe(countText(name))])))
      .describe('How many records of each kind were blanked or removed.'),
    created_at: timestamp.describe('When the erasure was requested.'),
    completed_at: timestamp.nullable().describe('When the job ended; null before.'),
  })
  .meta({ id: 'Erasure', description: "The job that removes a person's data." });

export const getErasure = async (
  { table }: { readonly table: Table },
  { params }: ApiRequest<{ id: string }>,
): Promise<Reply> => {
  const item = await table.get(erasureKey(params.id));
  if (!item) throw notFound('erasure');
  return { data: erasureView(jobOf(item)) };
};
