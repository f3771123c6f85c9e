import { lambda } from '../../shared/http/lambda.ts';
import { listGuestSubscriptions } from '../../shared/queries/guest-lists.ts';
import { guestListDeps } from '../../shared/runtime.ts';
import { listGuestSubscriptionsEndpoint } from './endpoints.ts';

export const handler = lambda(listGuestSubscriptionsEndpoint, guestListDeps, listGuestSubscriptions);
