import { lambda } from '../../shared/http/lambda.ts';
import { paymentTimeline } from '../../shared/queries/payment-timeline.ts';
import { logDeps } from '../../shared/runtime.ts';
import { getTimelineEndpoint } from './endpoints.ts';

export const handler = lambda(getTimelineEndpoint, logDeps, paymentTimeline);
