/**
 * @module The due work of an erasure. It first erases the person's listed records, and then scans the whole table for
 * the rest. The job is done after a pass that starts at least five minutes after the last change and changes nothing.
 * By then, every function and delivery with older data has ended.
 */

import { RETRY_MS } from '../calls/call-times.ts';
import { DomainError } from '../core/errors.ts';
import { keysOf, rowOf } from '../core/rows.ts';
import { epochSeconds, instant, iso, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { guestPartition, keyOf, ownerPartition } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import { type ErasedKind, type Erasing, RECORD_ERASURES, removeExpired } from './erase-records.ts';
import { type Counted, type ErasureJob, erasedSubject, erasureShape, lockKeyOf, type Subject } from './erasure-job.ts';
import {
  blankTrace,
  forgetSought,
  removeClaim,
  removeCounter,
  removeUse,
  type Sought,
  soughtBy,
} from './erasure-traces.ts';
import type { RemovalDeps } from './organization-children.ts';

/** The kinds in the person's lists. Refunds and memberships are found in the whole table. */
type ListedKind = Exclude<ErasedKind, 'RFD' | 'MBR'>;
const isListed = (kind: ErasedKind): kind is ListedKind => kind !== 'RFD' && kind !== 'MBR';
const LISTED = keysOf(RECORD_ERASURES).filter(isListed);
const WHOLE_TABLE = LISTED.length;

const LAST_WRITES_MS = 5 * MINUTE_MS;
/** Limits of one run, well within its function's time-out even with a slow provider. */
const MAX_RUN_MS = 12 * SECOND_MS;
const LISTED_PER_PAGE = 25;
const SCANNED_PER_PAGE = 250;
const MAX_PAGES = 200;
const AT_ONCE = 25;

/** @returns the outcome, for the log */
export const runDueErasure = async (deps: RemovalDeps, id: string): Promise<string> => {
  const job = await versionedRecord(deps, erasureShape).load(id);
  if (!job || job.status === 'done') return 'nothing to do';
  const until = deps.now() + MAX_RUN_MS;
  let now: ErasureJob = { ...job, status: 'running' };
  let next: Next = { kind: 'now' };
  let sought = await soughtBy(deps.table, job);
  for (let pages = 0; pages < MAX_PAGES && next.kind === 'now' && deps.now() <= until; pages += 1) {
    const started = { ...now, passAt: now.passAt ?? iso(deps.now()) };
    const { job: after, isEnd } = await runSlice({ deps, sought }, started);
    ({ job: now, next } = isEnd ? afterPass(after, deps.now()) : { job: after, next });
    // The erasure of the records has marked the ids and e-mail addresses to find in the copies, so they are read now.
    if (isEnd && now.step === WHOLE_TABLE) sought = await soughtBy(deps.table, now);
  }
  return next.kind === 'done' ? finish(deps, now) : save(deps, now, next);
};

type Next = { readonly kind: 'now' } | { readonly kind: 'wait'; readonly ms: number } | { readonly kind: 'done' };

const afterPass = (job: ErasureJob, now: number): { readonly job: ErasureJob; readonly next: Next } => {
  const fresh = { ...job, after: undefined, failed: 0, passAt: undefined };
  if (job.failed > 0) return { job: { ...fresh, step: restartAt(job) }, next: { kind: 'wait', ms: RETRY_MS } };
  if (job.step < WHOLE_TABLE) return { job: { ...fresh, step: job.step + 1 }, next: { kind: 'now' } };
  const quietSince = instant(job.changedAt) + LAST_WRITES_MS;
  if (instant(job.passAt ?? '') >= quietSince) return { job: fresh, next: { kind: 'done' } };
  return { job: fresh, next: { kind: 'wait', ms: Math.max(0, quietSince - now) } };
};

/**
 * After a failure, the listed kinds start again from the first, because the failed record may wait for a record of an
 * earlier kind. For example, a method stays while a subscription uses it, and the person may have reactivated that
 * subscription.
 */
const restartAt = ({ step }: ErasureJob): number => (step < WHOLE_TABLE ? 0 : step);

interface Slice {
  readonly job: ErasureJob;
  /** True if the step has processed all of its items. */
  readonly isEnd: boolean;
}

interface Run {
  readonly deps: RemovalDeps;
  readonly sought: Sought;
}

const runSlice = async ({ deps, sought }: Run, job: ErasureJob): Promise<Slice> => {
  const subject = erasedSubject(job);
  const erasing: Erasing = { deps, erasureId: job.id, subject, emails: sought.emails };
  const kind = LISTED[job.step];
  const page = kind
    ? await listedPage(deps, kind, { subject, after: job.after })
    : await deps.table.scanItems({ after: job.after, limit: SCANNED_PER_PAGE });
  const results: Result[] = [];
  for (let at = 0; at < page.items.length; at += AT_ONCE) {
    const batch = page.items.slice(at, at + AT_ONCE);
    results.push(...(await Promise.all(batch.map((item) => eraseItem(erasing, sought, item)))));
  }
  const after =
    page.next && Object.fromEntries(Object.entries(page.next).map(([name, value]) => [name, String(value)]));
  return { job: counted({ ...job, after }, results, iso(deps.now())), isEnd: page.next === undefined };
};

/**
 * One page of the person's records of a kind. The owner index is eventually consistent, so the items themselves are
 * read.
 */
const listedPage = async (
  { table }: RemovalDeps,
  kind: ListedKind,
  { subject, after }: { readonly subject: Subject; readonly after: Item | undefined },
): Promise<{ readonly items: readonly Item[]; readonly next: Item | undefined }> => {
  const partition = subject.kind === 'user' ? ownerPartition(subject, kind) : guestPartition(subject.email, kind);
  const rows = await table.queryIndex({ index: 'owner', partition, after, limit: LISTED_PER_PAGE });
  const items = await table.getMany(rows.items.map(keyOf), { consistent: true });
  return { items: items.filter((item) => item !== undefined), next: rows.next };
};

type Result = Counted | 'removed' | 'failed' | undefined;

/** A record that fails does not stop the others. An error that is not a DomainError is a bug and ends the run. */
const eraseItem = async (erasing: Erasing, sought: Sought, item: Item): Promise<Result> => {
  try {
    return await eraseAny(erasing, sought, item);
  } catch (error) {
    if (error instanceof DomainError) return 'failed';
    throw error;
  }
};

const eraseAny = async (erasing: Erasing, sought: Sought, item: Item): Promise<Result> => {
  const { table, now } = erasing.deps;
  const { sk, ttl, tombstone } = item;
  if (tombstone === true) return undefined;
  const record = rowOf(RECORD_ERASURES, sk);
  if (record) {
    if (typeof ttl === 'number' && ttl <= epochSeconds(now())) {
      return (await removeExpired(table, erasing.subject, item)) ? 'removed' : undefined;
    }
    return (await record.erase(erasing, item)) ? record.counted : undefined;
  }
  const blanked = await blankTrace(table, sought, item);
  if (blanked !== undefined) return blanked;
  const isRemoved =
    (await removeClaim(table, sought, item)) ||
    (await removeCounter(table, sought, item)) ||
    (await removeUse(table, sought, item));
  return isRemoved ? 'removed' : undefined;
};

const counted = (job: ErasureJob, results: readonly Result[], at: string): ErasureJob => {
  const counts = { ...job.counts };
  let { failed, changedAt } = job;
  for (const result of results) {
    if (result === undefined) continue;
    if (result === 'failed') failed += 1;
    else changedAt = at;
    if (result !== 'failed' && result !== 'removed') counts[result] = (counts[result] ?? 0) + 1;
  }
  return { ...job, counts, failed, changedAt };
};

const save = async (deps: RemovalDeps, job: ErasureJob, next: Next): Promise<string> => {
  const at = deps.now();
  const dueAt = iso(at + (next.kind === 'wait' ? next.ms : 0));
  const saved = { ...job, dueAt, version: job.version + 1, updatedAt: iso(at) };
  await versionedRecord(deps, erasureShape).commit(job, saved);
  return next.kind === 'wait' ? 'waits for the next pass' : 'to be continued';
};

/** Removes the e-mail addresses before the job is marked as done. */
const finish = async (deps: RemovalDeps, job: ErasureJob): Promise<string> => {
  await forgetSought(deps.table, job.id);
  const at = iso(deps.now());
  const done: ErasureJob = {
    ...job,
    status: 'done',
    email: undefined,
    version: job.version + 1,
    updatedAt: at,
    completedAt: at,
    dueAt: undefined,
  };
  await versionedRecord(deps, erasureShape).commit(job, done, [{ delete: lockKeyOf(erasedSubject(job)) }]);
  return 'done';
};
