import type { Endpoint } from '../../../shared/http/endpoint.ts';

export interface Throttle {
  /** Requests per second. */
  readonly rate: number;
  readonly burst: number;
}

/** The metric of requests that exceeded these limits. */
export const THROTTLED_REQUESTS = 'ThrottledRequests';

/** The stage's default. A route with the default limits has no settings of its own. */
export const STAGE_THROTTLE: Throttle = { rate: 300, burst: 600 };

/** A higher limit for reads, because a payer's browser reads each payment several times. */
const CHECKOUT_READS: Throttle = { rate: 1_000, burst: 2_000 };

/** Separate limits, so that other admin requests cannot block a shop's captures and refunds. */
const CAPTURES_AND_REFUNDS: Throttle = { rate: 100, burst: 200 };

/**
 * The gateway's limit for a route, across all callers. It bounds the cost, and the load on providers and the table.
 * Limits per caller are in the service itself.
 */
export const throttleOf = ({ auth, method, rateClass }: Pick<Endpoint, 'auth' | 'method' | 'rateClass'>): Throttle => {
  if (rateClass === 'money') return CAPTURES_AND_REFUNDS;
  if (auth === 'provider-signature') return { rate: 500, burst: 1_000 };
  if (auth === 'public') return { rate: 50, burst: 100 };
  if (auth === 'platform-admin') return { rate: 20, burst: 40 };
  const isPayers = auth === 'session-or-token' || auth === 'link-token';
  return method === 'GET' && isPayers ? CHECKOUT_READS : STAGE_THROTTLE;
};
