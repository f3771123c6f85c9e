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
  if (record.change) return { data: commandView(await endChange(deps, record)) };
  if (record.scheduledChange) return { data: commandView(await withdrawSchedule(deps, record)) };
  throw new DomainError('INVALID_STATE', { message: 'The subscription has no scheduled or unpaid change' });
};
