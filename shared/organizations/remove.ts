import { DomainError } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { cancelNow } from '../subscriptions/cancel.ts';
import type { BillingDeps } from '../subscriptions/deps.ts';
import { isLive, mayStandThere, subscriptionRecord, type VisibleSubscription } from '../subscriptions/subscription.ts';
import { ownerPartition } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import type { Organization } from './organization.ts';
import { organizationStore, type StoreDeps } from './store.ts';

/**
 * Deletes an organization: its live subscriptions are canceled first, then access to it ends at once; what belongs to it
 * goes by appointments (finish-deletion.ts). @throws DomainError PROVIDER_ERROR rather than leave a payer behind.
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
  const live = await unfinishedSubscriptions(deps.table, organizationId);
  for (let at = 0; at < live.length; at += AT_ONCE) {
    const canceled = await Promise.allSettled(live.slice(at, at + AT_ONCE).map((one) => cancelNow(deps, one)));
    for (const outcome of canceled) {
      if (outcome.status === 'rejected') throw notCanceled(outcome.reason);
      if (mayStandThere(outcome.value)) throw notCanceled(new DomainError('PAYMENT_IN_PROGRESS'));
    }
  }
};

const notCanceled = (error: unknown): unknown =>
  error instanceof DomainError
    ? new DomainError('PROVIDER_ERROR', { message: 'A subscription could not be canceled', cause: error })
    : error;

const isUnfinished = (subscription: VisibleSubscription): boolean =>
  isLive(subscription) || mayStandThere(subscription);

const unfinishedSubscriptions = async (
  table: Table,
  organizationId: string,
): Promise<readonly VisibleSubscription[]> => {
  const partition = ownerPartition({ kind: 'organization', organizationId }, 'SUB');
  const found: VisibleSubscription[] = [];
  let after: Item | undefined;
  do {
    const page = await table.queryIndex({ index: 'owner', partition, after });
    const keys = page.items.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
    // The index tells of a change a moment late: the items decide.
    const items = await table.getMany(keys, { consistent: true });
    found.push(...items.flatMap((item) => (item && subscriptionRecord.parse(item)) ?? []).filter(isUnfinished));
    after = page.next;
  } while (after);
  return found;
};
