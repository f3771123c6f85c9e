import type { BillingInterval } from '../catalog/reference-records.ts';
import { DomainError } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';
import { unanswered } from '../providers/done.ts';
import type { CreateNativeSubscription, NativeSubscriptions } from '../providers/native-subscriptions.ts';
import type { PaymentProvider } from '../providers/provider.ts';
import type { BillingDeps } from './deps.ts';
import type { Subscription } from './subscription.ts';

export const isNative = ({ billingOwner }: Pick<Subscription, 'billingOwner'>): boolean => billingOwner === 'provider';

type Plan = Pick<Subscription, 'billingInterval' | 'intervalMultiplier' | 'totalCents'>;
type NativeInterval = Pick<CreateNativeSubscription, 'unit' | 'count'>;

const UNITS: Readonly<Record<BillingInterval, readonly [unit: NativeInterval['unit'], times: number]>> = {
  daily: ['day', 1],
  weekly: ['week', 1],
  monthly: ['month', 1],
  quarterly: ['month', 3],
  yearly: ['year', 1],
};

export const nativeInterval = ({ billingInterval, intervalMultiplier }: Omit<Plan, 'totalCents'>): NativeInterval => {
  const [unit, times] = UNITS[billingInterval];
  return { unit, count: times * intervalMultiplier };
};

/** Who is to bill a plan: the provider where it can and there is something to bill, else the service. */
export const billingOwnerOf = (
  { can, subscriptions: native }: PaymentProvider,
  plan: Plan,
): Subscription['billingOwner'] =>
  can.subscriptions === 'native' && native?.bills(nativeInterval(plan)) && plan.totalCents > 0 ? 'provider' : 'service';

/** @throws DomainError UNSUPPORTED_PROVIDER where the provider no longer bills by itself: nobody else does instead. */
export const nativeOf = async (deps: BillingDeps, { providerId }: Subscription): Promise<NativeSubscriptions> => {
  const provider = await deps.providers.find(providerId);
  if (provider?.subscriptions) return provider.subscriptions;
  throw new DomainError('UNSUPPORTED_PROVIDER', { message: `${providerId} does not bill subscriptions here` });
};

/** The subscription does not take what is asked of it. */
export const inState = ({ status }: Subscription): DomainError =>
  new DomainError('INVALID_STATE', { message: `The subscription is ${status}` });

/** What the provider answered. @throws DomainError PROVIDER_ERROR for a refusal, PROVIDER_TIMEOUT and its like else. */
export const answerOf = <T>(outcome: Outcome<T>, { id }: Subscription): T => {
  if (outcome.kind === 'done') return outcome.value;
  const details = { subscription_id: id };
  if (outcome.kind === 'unknown' || outcome.kind === 'not_done') throw unanswered(outcome, details);
  const code = outcome.kind === 'refused' ? outcome.reason : outcome.code;
  throw new DomainError('PROVIDER_ERROR', { details: { ...details, provider_code: code } });
};
