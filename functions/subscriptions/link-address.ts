import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { subscriptionView } from '../../shared/subscriptions/subscription-view.ts';
import { linkSubscriptionAddress } from '../../shared/subscriptions/update-subscription.ts';
import { linkSubscriptionAddressEndpoint } from './endpoints.ts';

export const handler = lambda(linkSubscriptionAddressEndpoint, webDeps, {
  run: linkSubscriptionAddress,
  shows: (_, { record }) => subscriptionView(record),
});
