import { DomainError } from '../core/errors.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { SubscriptionDeps } from './biller.ts';
import type { VisibleSubscription } from './subscription.ts';

export const withdrawChange = async (
  _deps: SubscriptionDeps,
  _request: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  throw new DomainError('INVALID_STATE');
};
