/** @module Runs the due work of one record, under a lease. */

import * as z from 'zod';
import type { Log } from '../core/logger.ts';
import { keysOf } from '../core/rows.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { iso, MINUTE_MS } from '../core/time.ts';
import { runDueDispute } from '../payments/dispute-store.ts';
import { runDueRefund } from '../payments/refunds/run-refund-due.ts';
import { type DuePaymentDeps, runDuePayment } from '../payments/run-payment-due.ts';
import type { Handled } from '../platform/consumers.ts';
import type { ItemKind, PayloadKind } from '../platform/keys.ts';
import type { Queues } from '../platform/queues.ts';
import type { CallRate } from '../providers/call-rate.ts';
import { runEndedMembership } from '../removal/membership-end.ts';
import type { RemovalDeps } from '../removal/organization-children.ts';
import { runDueMethod } from '../removal/remove-method.ts';
import { runDueOrganization } from '../removal/remove-organization.ts';
import { runDueErasure } from '../removal/run-erasure.ts';
import { isChargeOpen } from '../subscriptions/billing/subscription-charge.ts';
import { runDueSubscription, type SubscriptionDueDeps } from '../subscriptions/commands/run-subscription-due.ts';
import { runDueDelivery } from '../webhooks/waiting-delivery.ts';

const RUN_LEASE_MS = 15 * MINUTE_MS;

/** The shortest time until work that was put back is due again. */
const PUT_BACK_MS = MINUTE_MS;

export type RunDeps = Omit<DuePaymentDeps, 'isChargeOpen'> &
  RemovalDeps &
  SubscriptionDueDeps & {
    readonly log: Log;
    readonly callRate: Pick<CallRate, 'admit'>;
    readonly queues: Pick<Queues, 'send'>;
  };

/** The kinds with due work. Addresses, customers, memberships, and stored copies other than deliveries have none. */
type DueKind = Exclude<ItemKind, Exclude<PayloadKind, 'DLV'> | 'ADDR' | 'CUS' | 'MBR'>;

/** The functions that run due work, by the sort key of the record's item. Each returns the outcome, for the log. */
const DUE_HANDLERS: Readonly<Record<DueKind, (deps: RunDeps, id: string) => Promise<string>>> = {
  PAY: (deps, id) => runDuePayment({ ...deps, isChargeOpen: (payment) => isChargeOpen(deps.table, payment) }, id),
  ORG: runDueOrganization,
  SUB: runDueSubscription,
  LEFT: runEndedMembership,
  PM: runDueMethod,
  RFD: runDueRefund,
  DSP: runDueDispute,
  ERA: runDueErasure,
  DLV: runDueDelivery,
};

const messageSchema = z.object({
  pk: z.string(),
  sk: z.enum(keysOf(DUE_HANDLERS)),
  due_at: z.string(),
  /** The provider that the work may call. */
  slot: z.enum(PROVIDER_SLOTS).optional(),
});

/**
 * Runs the due work that a message names. Drops the message if the record's due time has changed. If the call rate is
 * used up, the work returns to the index.
 */
export const runDue = async (deps: RunDeps, message: unknown): Promise<Handled> => {
  const { pk, sk, due_at: dueAt, slot } = messageSchema.parse(message);
  const moveDue = (byMs: number) =>
    deps.table.update({ pk, sk }, { set: { due_at: iso(deps.now() + byMs) } }, [
      { exists: true },
      { equals: ['due_at', dueAt] },
    ]);
  const waitMs = slot && (await deps.callRate.admit(slot));
  if (slot && waitMs !== undefined) {
    const putBack = await moveDue(Math.max(PUT_BACK_MS, waitMs));
    if (putBack.ok) deps.log.info('due work put back', { provider: slot });
    return 'done';
  }
  if (!(await moveDue(RUN_LEASE_MS)).ok) return 'done';
  const id = pk.slice(pk.indexOf('#') + 1);
  const outcome = await DUE_HANDLERS[sk](deps, id);
  deps.log.info('due work done', {
    ...(sk === 'PAY' && { payment_id: id }),
    ...(sk === 'SUB' && { subscription_id: id }),
    outcome,
  });
  return 'done';
};
