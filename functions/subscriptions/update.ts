import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { updateSubscription } from '../../shared/subscriptions/commands/update-subscription.ts';
import { subscriptionView } from '../../shared/subscriptions/record/subscription-view.ts';
import { updateSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(updateSubscriptionEndpoint, moneyDeps, {
  run: updateSubscription,
  shows: (_, { record }) => subscriptionView(record),
});
