import { listEverySubscription } from '../../shared/admin/list-every-subscription.ts';
import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { userDeps } from '../../shared/runtime.ts';
import { listEverySubscriptionEndpoint } from './endpoints.ts';

export const handler = lambda(listEverySubscriptionEndpoint, userDeps, {
  run: listEverySubscription,
  csv: csvRenderer,
});
