import * as z from 'zod';
import { iso, MINUTE } from '../core/time.ts';
import { runDueErasure } from '../erasure/run.ts';
import type { Handled } from '../messaging/consumers.ts';
import type { Log } from '../observability/logger.ts';
import { type DuePaymentDeps, runDuePayment } from '../payments/attempts/run-due.ts';
import { runDueDispute } from '../payments/disputes/record.ts';
import { runDueRefund } from '../payments/refunds/run-due.ts';
import { runEndedMembership } from '../removal/membership-end.ts';
import { runDueOrganization } from '../removal/organization.ts';
import type { RemovalDeps } from '../removal/organization-children.ts';
import { runDueMethod } from '../removal/payment-method.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { isChargeOpen } from '../subscriptions/billing/charge.ts';
import { runDueSubscription } from '../subscriptions/commands/run-due.ts';

const RUN_LEASE_MS = 15 * MINUTE;

const messageSchema = z.object({ pk: z.string(), sk: z.string(), due_at: z.string() });

export type RunDeps = Omit<DuePaymentDeps, 'isChargeOpen'> & RemovalDeps & BillingDeps & { readonly log: Log };

/** Runs the due work of a record, by the sort key of its item. @returns the outcome, for the log. */
const DUE_HANDLERS: Readonly<Record<string, (deps: RunDeps, id: string) => Promise<string>>> = {
  PAY: (deps, id) => runDuePayment({ ...deps, isChargeOpen: (payment) => isChargeOpen(deps.table, payment) }, id),
  ORG: runDueOrganization,
  SUB: runDueSubscription,
  LEFT: runEndedMembership,
  PM: runDueMethod,
  RFD: runDueRefund,
  DSP: runDueDispute,
  ERA: runDueErasure,
};

/** Runs the due work of one record. A message is stale, and dropped, once the record's due time differs from it. */
export const runDue = async (deps: RunDeps, message: unknown): Promise<Handled> => {
  const { pk, sk, due_at: dueAt } = messageSchema.parse(message);
  const taken = await deps.table.update({ pk, sk }, { set: { due_at: iso(deps.now() + RUN_LEASE_MS) } }, [
    { exists: true },
    { equals: ['due_at', dueAt] },
  ]);
  if (!taken.ok) return 'done';
  const outcome = await DUE_HANDLERS[sk]?.(deps, pk.slice(pk.indexOf('#') + 1));
  deps.log.info('due work done', {
    ...(sk === 'PAY' && { payment_id: pk.slice(4) }),
    ...(sk === 'SUB' && { subscription_id: pk.slice(4) }),
    outcome: outcome ?? 'unknown kind',
  });
  return 'done';
};
