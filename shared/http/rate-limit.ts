import { DomainError } from '../core/errors.ts';
import { epochSeconds, type Now } from '../core/time.ts';
import { rateKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { RateLimit } from './endpoint.ts';
import type { ApiRequest } from './request.ts';

/** Fixed windows by the service's clock, one conditional count each, all of a request's windows in parallel. */
export const enforceLimits = async (
  deps: { readonly table: Table; readonly now: Now },
  limits: readonly RateLimit[],
  request: ApiRequest,
): Promise<void> => {
  const refused = await Promise.all(limits.map((limit) => countOne(deps, limit, request)));
  const waits = refused.filter((seconds) => seconds !== undefined);
  if (waits.length > 0) throw new DomainError('RATE_LIMITED', { retryAfterSeconds: Math.max(...waits) });
};

/** @returns seconds to wait where the window is full. */
const countOne = async (
  deps: { readonly table: Table; readonly now: Now },
  limit: RateLimit,
  request: ApiRequest,
): Promise<number | undefined> => {
  const subject = limit.by(request);
  if (subject === undefined) return undefined;
  const seconds = epochSeconds(deps.now());
  const window = Math.floor(seconds / limit.windowSeconds);
  const endsAt = (window + 1) * limit.windowSeconds;
  const counted = await deps.table.update(
    rateKey(limit.name, subject, window),
    { add: { n: 1 }, set: { ttl: endsAt + limit.windowSeconds } },
    [{ any: [{ lacks: 'n' }, { below: ['n', limit.max] }] }],
  );
  return counted.ok ? undefined : endsAt - seconds;
};
