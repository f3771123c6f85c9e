import type { LostPayments, Restored } from '../compare/lost-payments.ts';

/** The findings of `drift --restored-to` at the providers, and the records that it stored. */
export interface RestoreResult extends LostPayments {
  readonly restoredTo: string;
  readonly restored: Restored | undefined;
  /** Number of checked payments, including the payments that the command restored. */
  readonly checked: number;
  /** Number of differences other than lost payments and repeated charges. */
  readonly others: number;
  readonly tookMs: number;
}

export const restoreView = ({ restored, checked, lost, ...result }: RestoreResult) => ({
  restored_to: result.restoredTo,
  before: checked - (restored?.restored.length ?? 0),
  lost: lost.length,
  charged_again: result.chargedAgain.length,
  found_again: restored?.restored.length ?? 0,
  without_owner: restored?.without_owner ?? [],
  other_amount: restored?.other_amount ?? [],
  subscriptions_read: restored?.synced ?? 0,
  subscriptions_unread: restored?.unread_subscriptions ?? [],
  subscriptions_not_here: result.unfollowed,
  lists: result.lists,
  unlisted: result.unlisted,
  took_ms: result.tookMs,
});

export const describeRestore = (result: RestoreResult): readonly string[] => {
  const { before, lost, found_again: again, took_ms: tookMs } = restoreView(result);
  const { lists, unlisted, unfollowed, chargedAgain, restored, others } = result;
  return [
    ...lists.map(
      ({ provider, listed, not_ours: notOurs, leaves_out: leavesOut }) =>
        `${provider} lists ${listed} payments${notOurs > 0 ? `, ${notOurs} of them not made by this service` : ''}${
          leavesOut === null ? '' : `; the list leaves out ${leavesOut}`
        }`,
    ),
    ...unlisted.map(
      ({ provider, unread }) =>
        `${provider} cannot be listed (${unread}): have it send its events again, from its dashboard`,
    ),
    ...unfollowed.map(
      ({ provider, provider_subscription_id: id, subscription_id: ours }) =>
        `${provider} goes on charging ${id} (${ours}), which no record follows: payctl cancel-lost`,
    ),
    ...chargedAgain.map(
      ({ listed: { report }, slot, paymentId }) =>
        `${slot} has charged ${paymentId} again as ${report.paymentId}, which no record follows: refund it there`,
    ),
    ...(restored ? describeStored(restored, others) : []),
    `${before} payments before, ${lost} lost, ${again} found again, in ${(tookMs / 1_000).toFixed(1)} s`,
  ];
};

const describeStored = (stored: Restored, others: number): readonly string[] => {
  const { restored, synced, without_owner: ownerless, other_amount: other, unread_subscriptions: unread } = stored;
  return [
    ...(synced > 0 ? [`${synced} provider-billed subscriptions were read again`] : []),
    ...unread.map((id) => `${id} cannot be read at its provider; run the command again`),
    ...ownerless.map((id) => `${id} has no owner, so only staff see it; name the owner with --owners`),
    ...other.map((id) => `${id} has another amount than its subscription here: compare it with the provider's`),
    ...(restored.length > 0
      ? ['Webhooks about the creation and outcome of the payments found again are not sent again.']
      : []),
    ...(others > 0 ? [`Up to ${others} webhooks of the other differences are sent, perhaps for the second time.`] : []),
  ];
};
