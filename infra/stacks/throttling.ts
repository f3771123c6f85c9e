import type { Endpoint } from '../../shared/http/endpoint.ts';

export interface Throttle {
  /** Requests per second. */
  readonly rate: number;
  readonly burst: number;
}

/** The metric of requests that these limits refused. */
export const THROTTLED_REQUESTS = 'ThrottledRequests';

/** The default of every route, for signed-in readers. */
export const STAGE_THROTTLE: Throttle = { rate: 1_000, burst: 2_000 };

/**
 * The gateway's limit for a route, over all its callers. It bounds the cost, and the load on providers and the table.
 * The service itself limits requests per caller.
 */
export const throttleOf = ({ auth, method }: Pick<Endpoint, 'auth' | 'method'>): Throttle => {
  if (auth === 'provider-signature') return { rate: 500, burst: 1_000 };
  if (auth === 'public') return { rate: 50, burst: 100 };
  if (auth === 'platform-admin') return { rate: 20, burst: 40 };
  return method === 'GET' ? STAGE_THROTTLE : { rate: 300, burst: 600 };
};
