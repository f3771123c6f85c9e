import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { resumeSubscription } from '../../shared/subscriptions/commands/pause-subscription.ts';
import { resumeSubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(resumeSubscriptionEndpoint, moneyDeps, resumeSubscription);
