/**
 * Budget of an endpoint's DynamoDB work while the caller waits. It limits requests, sequential levels, and write units
 * of the table with its `owner` and `project` indexes. `dueUnits` are the write units of the `due` index. Setting or
 * removing a due time writes one key of that index. Moving a due time writes two keys, the old one and the new one.
 * `because` gives the reason for a budget that the design does not name.
 */
export interface Budget {
  /** Id of the function. */
  readonly of: string;
  readonly requests: number;
  readonly levels: number;
  readonly writeUnits: number | 'size of the item';
  readonly dueUnits: number;
  /**
   * Write units of all work after the response, without the `due` index: history, sums, words, received and applied
   * provider events, deliveries to one target, and the log.
   */
  readonly laterUnits?: number;
  /**
   * Rate windows that count this request, in addition to the general window of creates and writes. The windows of
   * declines count as one, because one request reads them. The windows add exactly this many requests, in one more
   * level.
   */
  readonly windows?: number;
  /** True if some windows count before the access rule and some after it, which needs a second level. */
  readonly countsTwice?: true;
  /**
   * The number of windows that count a declined payment after the response. Each needs one request, all in one more
   * level.
   */
  readonly countsDecline?: number;
  /** True if the response is stored under its Idempotency-Key, which needs two more requests in two more levels. */
  readonly keepsAnswer?: true;
  /** True if the key is held during a provider call, which needs one more request in one more level. */
  readonly holdsKey?: true;
  readonly raisesEpoch?: true;
  readonly because?: string;
}

export const oneMore = (base: Budget, because?: string): Budget => ({
  ...base,
  requests: base.requests + 1,
  levels: base.levels + 1,
  ...(because !== undefined && { because }),
});
export const MEMBERSHIP = 'as get: the membership, where it is not cached, is one BatchGet more';
