/**
 * @module Rate limit for checks of discount codes. Creates with a refused code count too. At the limit, further checks
 * and creates with a code are refused.
 */

import { keyOfCaller, subjectOf } from '../access/caller.ts';
import { fieldAt } from '../core/rows.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import type { ApiRequest } from '../http/request.ts';

/**
 * The name under which a request is counted. A session, or the payer of a key, is counted by its own name. A guest is
 * counted by network. If a key acts for the guest, the key sends the payer's network. A key without a payer is not
 * counted here.
 */
const payerOf = ({ caller, http }: ApiRequest): string | undefined => {
  if (caller.kind !== 'guest') return caller.kind === 'key' ? undefined : subjectOf(caller);
  const key = keyOfCaller(caller);
  if (!key) return http.sourceNetwork;
  return http.payerNetwork === undefined ? undefined : `${key.id} ${http.payerNetwork}`;
};

const WINDOW = { name: 'discount-check', max: 20, windowSeconds: 60 } as const;

export const discountChecks: RateLimit = { ...WINDOW, by: payerOf };

export const refusedCodes: RateLimit = {
  ...WINDOW,
  counts: 'refused codes',
  by: (request) => (fieldAt(request.body, 'discount_code') ? payerOf(request) : undefined),
};
