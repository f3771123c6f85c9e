import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getSubscription } from '../../shared/subscriptions/read.ts';
import { get } from './endpoints.ts';

export const handler = lambda(get, webDeps, getSubscription);
