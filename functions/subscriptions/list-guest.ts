import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listGuestSubscriptions } from '../../shared/subscriptions/list-guest.ts';
import { listGuest } from './endpoints.ts';

export const handler = lambda(listGuest, webDeps, listGuestSubscriptions);
