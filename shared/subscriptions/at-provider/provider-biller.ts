/** @module Decides whether the provider or the service bills, and maps errors of provider commands. */

import type { BillingInterval } from '../../catalog/billing-intervals.ts';
import { DomainError } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { PaymentProvider } from '../../providers/provider.ts';
import type { NewProviderSubscription, SubscriptionsPort } from '../../providers/subscription-port.ts';
import { unansweredError } from '../../providers/unwrap.ts';
import type { BillingDeps } from '../billing/biller.ts';
import type { Subscription } from '../record/subscription.ts';

type Plan = Pick<Subscription, 'billingInterval' | 'intervalMultiplier' | 'totalCents' | 'discount'>;
type ProviderInterval = Pick<NewProviderSubscription, 'unit' | 'count'>;

const UNITS: Readonly<Record<BillingInterval, readonly [unit: ProviderInterval['unit'], times: number]>> = {
  daily: ['day', 1],
  weekly: ['week', 1],
  monthly: ['month', 1],
  quarterly: ['month', 3],
  yearly: ['year', 1],
};

export const providerInterval = ({
  billingInterval,
  intervalMultiplier,
}: Pick<Plan, 'billingInterval' | 'intervalMultiplier'>): ProviderInterval => {
  const [unit, times] = UNITS[billingInterval];
  return { unit, count: times * intervalMultiplier };
};

const MOST_MULTIPLIED = 100;

/** Converts a provider's interval to ours, in the longest unit. @returns undefined if it has no equivalent here */
export const intervalOf = ({ unit, count }: ProviderInterval): Omit<Plan, 'totalCents'> | undefined => {
  const found = [...INTERVALS_BY_LENGTH].find(([, [of, times]]) => of === unit && count % times === 0);
  if (!found) return undefined;
  const [billingInterval, [, times]] = found;
  const intervalMultiplier = count / times;
  return intervalMultiplier > MOST_MULTIPLIED ? undefined : { billingInterval, intervalMultiplier };
};

/** Longest unit first. Twelve months also count as a year. */
const INTERVALS_BY_LENGTH: readonly (readonly [BillingInterval, (typeof UNITS)[BillingInterval]])[] = [
  ['yearly', UNITS.yearly],
  ['yearly', ['month', 12]],
  ['quarterly', UNITS.quarterly],
  ['monthly', UNITS.monthly],
  ['weekly', UNITS.weekly],
  ['daily', UNITS.daily],
];

/**
 * The provider bills a new subscription if it supports the plan and the total is above 0; otherwise the service bills.
 * A discounted price at a provider cannot end automatically, so the service also bills a code that ends.
 */
export const billingOwnerOf = ({ can, subscriptions }: PaymentProvider, plan: Plan): Subscription['billingOwner'] =>
  can.subscriptions === 'native' &&
  subscriptions?.bills(providerInterval(plan)) &&
  plan.totalCents > 0 &&
  plan.discount?.periodsLeft === undefined
    ? 'provider'
    : 'service';

/** @throws DomainError UNSUPPORTED_PROVIDER if the provider no longer bills; the service cannot take over */
export const subscriptionsPortOf = async (
  deps: BillingDeps,
  { providerId }: Subscription,
): Promise<SubscriptionsPort> => {
  const provider = await deps.providers.find(providerId);
  if (provider?.subscriptions) return provider.subscriptions;
  throw new DomainError('UNSUPPORTED_PROVIDER', { message: `${providerId} does not bill subscriptions here` });
};

/** The error for a command not allowed in the subscription's status. */
export const invalidStateError = ({ status }: Subscription): DomainError =>
  new DomainError('INVALID_STATE', { message: `The subscription is ${status}` });

/** @throws DomainError PROVIDER_ERROR for a refusal, otherwise PROVIDER_TIMEOUT or a similar code */
export const requireAnswer = <T>(outcome: Outcome<T>, { id }: Subscription): T => {
  if (outcome.kind === 'done') return outcome.value;
  const details = { subscription_id: id };
  if (outcome.kind === 'unknown' || outcome.kind === 'not_done') throw unansweredError(outcome, details);
  const code = outcome.kind === 'refused' ? outcome.reason : outcome.code;
  throw new DomainError('PROVIDER_ERROR', { details: { ...details, provider_code: code } });
};
