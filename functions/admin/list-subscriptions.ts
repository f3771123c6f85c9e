import { listEverySubscription } from '../../shared/admin/list-every-subscription.ts';
import { withCsv } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listEverySubscriptionEndpoint } from './endpoints.ts';

const deps = withCsv(webDeps);

export const handler = lambda(listEverySubscriptionEndpoint, deps, listEverySubscription);
