import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listSubscriptions } from '../../shared/subscriptions/read.ts';
import { list } from './endpoints.ts';

export const handler = lambda(list, webDeps, listSubscriptions);
