/** @module Withdraws a scheduled plan change, or a change that waits for its payer. */

import type { Caller } from '../../access/caller.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { DomainError } from '../../core/errors.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import { paymentMethodRecord } from '../../payment-methods/payment-method.ts';
import type { BillingDeps } from '../billing/biller.ts';
import type { Subscription, VisibleSubscription } from '../record/subscription.ts';
import { openCallsOf } from '../record/subscription-states.ts';
import { commandView } from '../record/subscription-view.ts';
import { type EndCheck, endChange, withdrawSchedule } from './end-change.ts';
import { isLentByOther, lentError } from './lent-method.ts';

export const withdrawChange = async (
  deps: BillingDeps,
  { record, caller }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  // Readers do not see a dropped change, so it cannot be withdrawn.
  const isOpen = record.change !== undefined && record.change.step !== 'dropped';
  if (!isOpen && !record.scheduledChange) {
    throw new DomainError('INVALID_STATE', { message: 'The subscription has no scheduled or unpaid change' });
  }
  await requireLender(deps, caller, record);
  const requireSameMethod = ({ paymentMethodId }: Subscription): void => {
    if (paymentMethodId !== record.paymentMethodId) throw new DomainError('VERSION_CONFLICT');
  };
  if (isOpen) return withdrawNow(deps, record, requireSameMethod);
  return { data: commandView(await withdrawSchedule(deps, record, requireSameMethod)) };
};

/** @throws DomainError INSUFFICIENT_PERMISSIONS if another member lent the method */
const requireLender = async ({ table }: BillingDeps, caller: Caller, record: VisibleSubscription): Promise<void> => {
  const { organizationId, paymentMethodId } = record;
  if (organizationId === undefined || paymentMethodId === undefined) return;
  const item = await table.get(paymentMethodRecord.key(paymentMethodId));
  if (isLentByOther(caller, record, item && paymentMethodRecord.parse(item))) throw lentError();
};

/** @throws DomainError INVALID_STATE if the change was already paid; it is then applied */
const withdrawNow = async (deps: BillingDeps, record: VisibleSubscription, check: EndCheck): Promise<Reply> => {
  const ended = await endChange(deps, record, check);
  requireFree('end', openCallsOf(ended));
  if (ended.reason !== 'plan_changed') return { data: commandView(ended) };
  throw new DomainError('INVALID_STATE', { message: 'The change is paid, and has taken effect' });
};
