import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { createSubscription } from '../../shared/subscriptions/commands/create-subscription.ts';
import { createSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(createSubscriptionEndpoint, moneyDeps, createSubscription);
