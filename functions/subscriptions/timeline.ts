import { lambda } from '../../shared/http/lambda.ts';
import { subscriptionTimeline } from '../../shared/queries/subscription-timeline.ts';
import { logDeps } from '../../shared/runtime.ts';
import { getSubscriptionTimelineEndpoint } from './endpoints.ts';

export const handler = lambda(getSubscriptionTimelineEndpoint, logDeps, subscriptionTimeline);
