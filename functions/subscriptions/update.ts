import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { subscriptionView } from '../../shared/subscriptions/subscription-view.ts';
import { updateSubscription } from '../../shared/subscriptions/update-subscription.ts';
import { updateSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(updateSubscriptionEndpoint, moneyDeps, {
  run: updateSubscription,
  shows: (_, { record }) => subscriptionView(record),
});
