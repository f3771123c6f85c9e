/**
 * @module Stops a member's own payment methods from paying for an organization when the membership ends. The service
 * checks the membership at each charge of its own. This due work stops the billing providers, and removes the methods
 * from the organization's subscriptions, so that the member can delete them.
 */

import * as z from 'zod';
import { standingKeys, standingOf } from '../access/standing.ts';
import { RETRY_MS } from '../calls/call-times.ts';
import { DomainError } from '../core/errors.ts';
import { iso, MINUTE_MS } from '../core/time.ts';
import { endedMembershipShape } from '../organizations/organization-store.ts';
import { endedMembershipKey, ownerPartition } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';
import { recordTimes } from '../platform/versioned-record.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { removeMethodFrom } from '../subscriptions/commands/change-method.ts';
import { subscriptionsUsing } from '../subscriptions/record/linked-records.ts';

/** After this time, requests admitted before the membership ended have finished, and the index lists every method. */
const LAST_PASS_MS = 5 * MINUTE_MS;

const endedSchema = z.object({ organizationId: z.string(), userId: z.string(), isLastPass: z.boolean().optional() });

/**
 * Removes a former member's methods from the organization's subscriptions. Safe to stop midway and to repeat, because
 * the due item is removed last.
 * @returns the outcome, for the log
 */
export const runEndedMembership = async (deps: BillingDeps, memberId: string): Promise<string> => {
  const key = endedMembershipKey(memberId);
  const item = await deps.table.get(key);
  if (!item) return 'gone';
  const ended = { id: memberId, ...endedSchema.parse(item) };
  const { organizationId, userId, isLastPass } = ended;
  const times = recordTimes(deps, endedMembershipShape);
  const isBack = await isMember(deps.table, userId, organizationId);
  const failed = isBack ? 0 : await removeMethods(deps, userId, organizationId);
  if (failed > 0) {
    await times.putOff(ended, iso(deps.now() + RETRY_MS));
    return 'some subscriptions failed';
  }
  if (!isBack && !isLastPass) {
    await times.putOff(ended, iso(deps.now() + LAST_PASS_MS), { isLastPass: true });
    return 'methods removed, one more pass to come';
  }
  await deps.table.remove(key);
  return isBack ? 'member again' : 'methods removed';
};

const isMember = async (table: Table, userId: string, organizationId: string): Promise<boolean> => {
  const [organization, member] = await table.getMany(standingKeys(userId, organizationId), { consistent: true });
  return standingOf(organizationId, organization, member).role !== undefined;
};

/** @returns the number of subscriptions that could not be changed now */
const removeMethods = async (deps: BillingDeps, userId: string, organizationId: string): Promise<number> => {
  let failed = 0;
  const partition = ownerPartition({ kind: 'user', userId }, 'PM');
  for await (const { pk } of deps.table.eachInIndex({ index: 'owner', partition })) {
    const methodId = String(pk).slice('PM#'.length);
    for (const subscription of await subscriptionsUsing(deps.table, 'PM', methodId)) {
      if (subscription.organizationId !== organizationId) continue;
      try {
        await removeMethodFrom(deps, subscription, methodId);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        failed += 1;
      }
    }
  }
  return failed;
};
