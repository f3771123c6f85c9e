import { lambda } from '../../shared/http/lambda.ts';
import { listSubscriptions } from '../../shared/queries/list-subscriptions.ts';
import { webDeps } from '../../shared/runtime.ts';
import { list } from './endpoints.ts';

export const handler = lambda(list, webDeps, listSubscriptions);
