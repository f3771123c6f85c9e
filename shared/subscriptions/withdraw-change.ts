/** @module Withdraws a change of the plan that is scheduled, or that waits for its payer. */

import { DomainError } from '../core/errors.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { BillingDeps } from './biller.ts';
import { endChange, withdrawSchedule } from './end-change.ts';
import type { VisibleSubscription } from './subscription.ts';
import { commandView } from './subscription-view.ts';

export const withdrawChange = async (
  deps: BillingDeps,
  { record }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  // Readers see nothing of a change that has failed.
  if (record.change && record.change.step !== 'dropped') return withdrawNow(deps, record);
  if (record.scheduledChange) return { data: commandView(await withdrawSchedule(deps, record)) };
  throw new DomainError('INVALID_STATE', { message: 'The subscription has no scheduled or unpaid change' });
};

/** @throws DomainError INVALID_STATE if the payer has paid meanwhile, because what is paid is applied */
const withdrawNow = async (deps: BillingDeps, record: VisibleSubscription): Promise<Reply> => {
  const ended = await endChange(deps, record);
  if (ended.change) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (ended.reason !== 'plan_changed') return { data: commandView(ended) };
  throw new DomainError('INVALID_STATE', { message: 'The change is paid, and has taken effect' });
};
