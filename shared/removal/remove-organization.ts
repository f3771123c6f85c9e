/** @module Deletes organizations. The request cancels subscriptions and ends access; due work removes the records. */

import * as z from 'zod';
import { RETRY_MS } from '../calls/call-times.ts';
import { DomainError } from '../core/errors.ts';
import { HOUR_MS, instant, iso, MINUTE_MS } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { Organization } from '../organizations/organization.ts';
import { organizationStore } from '../organizations/organization-store.ts';
import { type Key, keyOf, organizationKey, ownerPartition } from '../platform/keys.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { type ItemShape, recordTimes } from '../platform/versioned-record.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { cancelNow } from '../subscriptions/commands/cancel-subscription.ts';
import {
  isLive,
  mayExistAtProvider,
  subscriptionRecord,
  type VisibleSubscription,
} from '../subscriptions/record/subscription.ts';
import { type RemovalDeps, removeNextChildren } from './organization-children.ts';

/**
 * Cancels an organization's live subscriptions, then ends access to it.
 * @throws DomainError PROVIDER_ERROR if a subscription cannot be canceled, because it would continue to charge
 */
export const deleteOrganization = async (
  deps: StoreDeps & BillingDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Organization>,
): Promise<Reply> => {
  await cancelSubscriptions(deps, record.id);
  await organizationStore(deps).markDeleted(record.id);
  return { data: undefined, message: 'The organization was deleted' };
};

const AT_ONCE = 10;

const cancelSubscriptions = async (deps: BillingDeps, organizationId: string): Promise<void> => {
  const unfinished = await unfinishedSubscriptions(deps.table, organizationId);
  for (let at = 0; at < unfinished.length; at += AT_ONCE) {
    const canceled = await Promise.allSettled(unfinished.slice(at, at + AT_ONCE).map((one) => cancelNow(deps, one)));
    for (const outcome of canceled) {
      if (outcome.status === 'rejected') throw cancellationError(outcome.reason);
      if (mayExistAtProvider(outcome.value)) throw cancellationError(new DomainError('PAYMENT_IN_PROGRESS'));
    }
  }
};

const cancellationError = (error: unknown): unknown =>
  error instanceof DomainError
    ? new DomainError('PROVIDER_ERROR', { message: 'A subscription could not be canceled', cause: error })
    : error;

const isUnfinished = (subscription: VisibleSubscription): boolean =>
  isLive(subscription) || mayExistAtProvider(subscription);

const unfinishedSubscriptions = async (
  table: Table,
  organizationId: string,
): Promise<readonly VisibleSubscription[]> => {
  const partition = ownerPartition({ kind: 'organization', organizationId }, 'SUB');
  const keys: Key[] = [];
  for await (const item of table.eachInIndex({ index: 'owner', partition })) keys.push(keyOf(item));
  // The index is eventually consistent, so the items themselves are read.
  const items = await table.getMany(keys, { consistent: true });
  return items.flatMap((item) => (item && subscriptionRecord.parse(item)) ?? []).filter(isUnfinished);
};

/** Longer than a function runs, so requests that were admitted before the deletion have finished by then. */
const LAST_WRITES_MS = MINUTE_MS;

/** After this time, a subscription whose creation had an unknown outcome is listed, or was never made. */
const LAST_OUTCOMES_MS = 26 * HOUR_MS;

const deletedSchema = z.object({
  deletedAt: z.string().optional(),
  /** No record has been found since this time. */
  emptySince: z.string().optional(),
  createdAt: z.string(),
  requestHash: z.string().optional(),
});

/**
 * Removes the records of a deleted organization, a bounded number per run, until no record has been found for
 * `LAST_OUTCOMES_MS`. Safe to stop midway and to repeat, because the due item is removed last.
 * @returns the outcome, for the log
 */
export const runDueOrganization = async (deps: RemovalDeps, organizationId: string): Promise<string> => {
  const key = organizationKey(organizationId);
  const item = await deps.table.get(key);
  if (!item) return 'gone';
  const { deletedAt, emptySince, createdAt, requestHash } = deletedSchema.parse(item);
  if (deletedAt === undefined) throw new Error('deletion work is due for an organization that is not deleted');
  const startedAt = deps.now();
  const { removed, failed, more } = await removeNextChildren(deps, organizationId);
  const isEmpty = !more && removed === 0 && failed === 0 && instant(deletedAt) + LAST_WRITES_MS <= startedAt;
  if (isEmpty && emptySince !== undefined && instant(emptySince) + LAST_OUTCOMES_MS <= startedAt) {
    await removeOrganization(deps, organizationId, { deletedAt, createdAt, requestHash });
    return 'removed';
  }
  const since = isEmpty ? (emptySince ?? iso(startedAt)) : undefined;
  const next = since === undefined ? deps.now() + waitOf({ failed, more }) : instant(since) + LAST_OUTCOMES_MS;
  const deleted = { id: organizationId, emptySince };
  await recordTimes(deps, deletedShape).putOff(deleted, iso(next), { emptySince: since });
  return failed > 0 ? 'some records failed' : 'to be continued';
};

const IS_DELETED = [{ exists: true }, { has: 'deletedAt' }] as const;

const deletedShape: ItemShape<Pick<z.infer<typeof deletedSchema>, 'emptySince'> & { readonly id: string }> = {
  key: organizationKey,
  attributes: ({ id: _, ...attributes }) => attributes,
  asRead: () => IS_DELETED,
};

const waitOf = ({ failed, more }: { readonly failed: number; readonly more: boolean }): number => {
  if (more) return 0;
  return failed > 0 ? RETRY_MS : LAST_WRITES_MS;
};

/**
 * Removes the item of the organization. An id derived from an Idempotency-Key stays taken, because a repeated key must
 * not show the old payments.
 */
const removeOrganization = async (
  { table }: RemovalDeps,
  id: string,
  { requestHash, ...deleted }: Omit<z.infer<typeof deletedSchema>, 'emptySince'>,
): Promise<void> => {
  const key = organizationKey(id);
  if (requestHash === undefined) await table.remove(key, IS_DELETED);
  else await table.put({ ...key, id, ...deleted, requestHash }, IS_DELETED);
};
