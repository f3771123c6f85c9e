/**
 * @module Cancels lost subscriptions at their providers, because the providers would keep charging them. Asks the
 * operator before each cancellation.
 */

import type { AskOperator } from '../commands/ask.ts';
import { columns, type Report } from '../commands/report.ts';
import { listedFrom } from '../compare/lost-payments.ts';
import { findUnfollowed, type Unfollowed } from '../compare/lost-subscriptions.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';

export interface CancelLostOptions {
  /** ISO time to which the table was restored. */
  readonly restoredTo: string;
  /** The provider's ids. If empty, all lost subscriptions. */
  readonly only: readonly string[];
  /** Asks the operator. Undefined without a terminal. */
  readonly ask: AskOperator | undefined;
}

/**
 * Cancels only lost subscriptions. A payer keeps the paid period, and nothing is refunded.
 * @throws NotReachable before any cancellation if a named subscription is not lost, or if there is no terminal
 */
export const cancelLost = async (
  { deps }: Pick<Installation, 'deps'>,
  { restoredTo, only, ask }: CancelLostOptions,
): Promise<Report> => {
  const { unfollowed, unlisted } = await findUnfollowed({ deps }, listedFrom(restoredTo));
  const unknown = only.find((id) => unfollowed.every((one) => one.provider_subscription_id !== id));
  if (unknown !== undefined) throw new NotReachable(`${unknown} is not a lost subscription that its provider bills`);
  const chosen = unfollowed.filter((one) => only.length === 0 || only.includes(one.provider_subscription_id));
  if (chosen.length > 0 && !ask) {
    throw new NotReachable('there is no terminal to ask at; --yes cancels without asking');
  }
  const results: (Unfollowed & { readonly outcome: string })[] = [];
  for (const one of chosen) {
    const outcome = (await ask?.(questionOf(one))) ? await cancelAt({ deps }, one) : 'kept';
    results.push({ ...one, outcome });
  }
  const canceled = results.filter(({ outcome }) => outcome === CANCELED).length;
  const left = unfollowed.length - canceled;
  return {
    json: { found: unfollowed.length, canceled, subscriptions: results, unlisted },
    lines: [
      ...columns(results.map((one) => [one.provider_subscription_id, one.subscription_id, one.provider, one.outcome])),
      ...unlisted.map(({ provider, unread }) => `${provider} cannot be listed (${unread}); run the command again`),
      `${unfollowed.length} subscriptions that no record follows, ${canceled} canceled, ${left} left`,
    ],
    exitCode: left > 0 || unlisted.length > 0 ? 1 : 0,
  };
};

const CANCELED = 'canceled';

/**
 * Safe to repeat, because canceling a canceled subscription changes nothing. @returns `canceled`, or why the
 * subscription was not canceled
 */
const cancelAt = async (
  { deps }: Pick<Installation, 'deps'>,
  { provider, provider_subscription_id: subscriptionId }: Unfollowed,
): Promise<string> => {
  const port = (await deps.providers.find(provider))?.subscriptions;
  if (!port) return 'not billed there';
  const ended = await port.cancel({ subscriptionId, idempotencyKey: `payctl cancel-lost ${subscriptionId}` });
  if (ended.kind === 'done') return CANCELED;
  return 'reason' in ended ? ended.reason : ended.kind;
};

const questionOf = ({ has_record: hasRecord, ...one }: Unfollowed): string => {
  const record = `${one.subscription_id} ${hasRecord ? 'does not follow it' : 'has no record'}`;
  return `${one.provider_subscription_id} at ${one.provider}, made ${one.created_at}: ${record}. Cancel it there, without a refund?`;
};
