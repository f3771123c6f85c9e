import { linkSubscription } from '../../shared/hosted-pages/link-subscription.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { linkDeps } from '../../shared/runtime.ts';
import { linkSubscriptionEndpoint } from './link-endpoints.ts';

export const handler = lambda(linkSubscriptionEndpoint, linkDeps, linkSubscription);
