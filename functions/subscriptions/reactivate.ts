import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { reactivateSubscription } from '../../shared/subscriptions/commands/reactivate.ts';
import { reactivateSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(reactivateSubscriptionEndpoint, moneyDeps, reactivateSubscription);
