/** @module Rate limits for the hosted pages' requests, except confirmations. */

import { refusedCodes } from '../discounts/check-limits.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import { declineLimits, networkWithoutSession } from '../http/windows.ts';

const HOUR_SECONDS = 3_600;

export const startLimits: readonly RateLimit[] = [
  { name: 'page-start', max: 10, windowSeconds: 60, by: ({ http }) => http.sourceNetwork },
  refusedCodes,
];

/** The limits of saving a method, because the provider checks each saved method. */
export const pageMethodLimits: readonly RateLimit[] = [
  { name: 'page-method', max: 10, windowSeconds: HOUR_SECONDS, by: ({ http }) => http.opened?.id },
  { name: 'page-method-ip', max: 20, windowSeconds: HOUR_SECONDS, by: networkWithoutSession },
  ...declineLimits,
];
