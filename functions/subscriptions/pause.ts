import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { pauseSubscription } from '../../shared/subscriptions/commands/pause-subscription.ts';
import { pauseSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(pauseSubscriptionEndpoint, moneyDeps, pauseSubscription);
