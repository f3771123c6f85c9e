/** @module The payer cancels a subscription at the end of the period, or keeps it, on its hosted page. */

import * as z from 'zod';
import { DomainError } from '../core/errors.ts';
import { boundedText } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { BillingDeps } from '../subscriptions/billing/biller.ts';
import { cancelSubscription } from '../subscriptions/commands/cancel-subscription.ts';
import { noteOnSubscription, readVisibleSubscription } from '../subscriptions/commands/note-on-subscription.ts';
import { reactivateSubscription } from '../subscriptions/commands/reactivate.ts';
import { CANCEL_REASONS, type VisibleSubscription } from '../subscriptions/record/subscription.ts';
import type { PaymentPageDeps } from './page-of-payment.ts';
import { subscriptionPage } from './page-of-subscription.ts';
import { pageRefusal } from './page-refusal.ts';

const LONGEST_COMMENT = 500;

export const cancelPageBody = z
  .object({
    reason: z.enum(CANCEL_REASONS).nullish().describe('Why the payer cancels, as `cancel_reason` shows it.'),
    comment: boundedText(LONGEST_COMMENT)
      .trim()
      .nullish()
      .describe("The payer's own words, at most 500 characters, as `cancel_comment` shows them."),
  })
  .meta({ id: 'CancelPage', description: 'Why the payer cancels.' });

type CancelInput = z.output<typeof cancelPageBody>;
type PageDeps = BillingDeps & PaymentPageDeps;
type PageRequest<Body> = ApiRequest<unknown, unknown, Body, VisibleSubscription>;

/**
 * Cancels the subscription at the end of the period, or immediately if there is no paid period. The cancellation's
 * version has the payer's reason.
 */
export const cancelOnPage = async (deps: PageDeps, request: PageRequest<CancelInput>): Promise<Reply> => {
  const { record, body } = request;
  const noted = await noteOnSubscription(deps, record, {
    cancelReason: body.reason ?? undefined,
    cancelComment: body.comment || undefined,
  });
  await cancelSubscription(deps, { ...request, record: noted, body: { cancel_at_period_end: true } });
  return stateReply(deps, record);
};

/** Clears a scheduled cancellation and its reason, or the reason of a failed attempt to cancel. */
export const keepOnPage = async (deps: PageDeps, request: PageRequest<unknown>): Promise<Reply> => {
  const { record } = request;
  if (record.cancelAtPeriodEnd) await reactivateSubscription(deps, request).catch(ifCanceled).catch(pageRefusal);
  else if (record.cancelReason !== undefined || record.cancelComment !== undefined) {
    await noteOnSubscription(deps, record, { cancelReason: undefined, cancelComment: undefined });
  }
  return stateReply(deps, record);
};

const ifCanceled = (error: unknown): undefined => {
  if (error instanceof DomainError && error.code === 'SUBSCRIPTION_NOT_CANCELED') return undefined;
  throw error;
};

/** The page's state after a command. The stored copy for the Idempotency-Key has no client secrets. */
export const stateReply = async (
  deps: PaymentPageDeps,
  { id }: VisibleSubscription,
  reply: Pick<Reply, 'status' | 'isOpen' | 'isDecline'> = {},
): Promise<Reply> => {
  const state = await subscriptionPage(deps, await readVisibleSubscription(deps, id));
  const { open_payment: open } = state;
  const kept = { ...state, client_secret: null, open_payment: open && { ...open, client_secret: null } };
  return { ...reply, data: state, keptData: kept };
};
