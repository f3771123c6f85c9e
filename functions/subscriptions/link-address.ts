import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { linkSubscriptionAddress } from '../../shared/subscriptions/commands/update-subscription.ts';
import { subscriptionView } from '../../shared/subscriptions/record/subscription-view.ts';
import { linkSubscriptionAddressEndpoint } from './endpoints.ts';

export const handler = lambda(linkSubscriptionAddressEndpoint, webDeps, {
  run: linkSubscriptionAddress,
  shows: (_, { record }) => subscriptionView(record),
});
