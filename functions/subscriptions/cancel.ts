import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { cancelSubscription } from '../../shared/subscriptions/commands/cancel-subscription.ts';
import { cancelSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(cancelSubscriptionEndpoint, moneyDeps, cancelSubscription);
