import { lambda } from '../../shared/http/lambda.ts';
import { getSubscription } from '../../shared/queries/list-subscriptions.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(getSubscriptionEndpoint, webDeps, getSubscription);
