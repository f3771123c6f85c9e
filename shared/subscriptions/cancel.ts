import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { followAbandoned } from './abandon.ts';
import { canceledNow, edited } from './changes.ts';
import type { BillingDeps } from './deps.ts';
import { cancelAtProvider, changeAtProvider, scheduleCancelation } from './native-commands.ts';
import { isNative } from './native-port.ts';
import type { CancelBody } from './requests.ts';
import { subscriptionStore } from './store.ts';
import type { Subscription, VisibleSubscription } from './subscription.ts';
import { shown } from './view.ts';

/** Cancels a subscription, at the end of its period or now. Repeated, it answers the same. */
export const cancelSubscription = async (
  deps: BillingDeps,
  { record, body }: ApiRequest<unknown, unknown, CancelBody, VisibleSubscription>,
): Promise<Reply> => {
  const canceled = body.cancel_at_period_end ? await scheduleCancel(deps, record) : await cancelNow(deps, record);
  return { data: shown(canceled) };
};

const scheduleCancel = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const isDone = subscription.status === 'canceled' || subscription.cancelAtPeriodEnd;
  if (!isDone && isNative(subscription)) return changeAtProvider(deps, subscription, scheduleCancelation);
  return subscriptionStore(deps.table).change(subscription, (current) =>
    current.status === 'canceled' || current.cancelAtPeriodEnd
      ? current
      : edited(current, 'cancel_scheduled', deps.now(), { cancelAtPeriodEnd: true }),
  );
};

/** No refund; a charge that is under way is stopped where it still can be. */
export const cancelNow = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  if (isNative(subscription) && subscription.status !== 'canceled') await cancelAtProvider(deps, subscription);
  const canceled = await store.change(subscription, (current) =>
    current.status === 'canceled' ? current : canceledNow(current, deps.now()),
  );
  return followAbandoned(deps, store, canceled);
};
