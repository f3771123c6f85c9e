/** @module Rate limits of confirmations, on the payment's own route and on its hosted page. */

import type { RateLimit } from '../http/rate-limit.ts';
import type { ApiRequest } from '../http/request.ts';
import { declineLimits, networkWithoutSession, provenCaller } from '../http/windows.ts';
import { byPaymentId } from './payment-requests.ts';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;

const paymentNamed = ({ params, http }: ApiRequest): string => http.opened?.id ?? byPaymentId.parse(params).id;

export const confirmLimits: readonly RateLimit[] = [
  { name: 'confirm-user', max: 20, windowSeconds: MINUTE_SECONDS, by: ({ caller }) => provenCaller(caller) },
  { name: 'confirm-ip', max: 20, windowSeconds: MINUTE_SECONDS, by: networkWithoutSession },
  { name: 'confirm-payment', max: 10, windowSeconds: HOUR_SECONDS, by: paymentNamed },
  { name: 'declined-payment', max: 5, windowSeconds: HOUR_SECONDS, counts: 'declines', by: paymentNamed },
  ...declineLimits,
];
