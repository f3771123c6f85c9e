import { lambda } from '../../shared/http/lambda.ts';
import { listGuestPayments } from '../../shared/queries/guest-lists.ts';
import { guestListDeps } from '../../shared/runtime.ts';
import { listGuestPaymentsEndpoint } from './endpoints.ts';

export const handler = lambda(listGuestPaymentsEndpoint, guestListDeps, listGuestPayments);
