/**
 * Budget of each endpoint at DynamoDB while its caller waits, without the call to the provider. It bounds requests,
 * sequential levels, and write units of the table with its `owner` and `project` indexes. `dueUnits` are the write
 * units of the `due` index. Setting or removing a due time writes one key; moving it writes two (the old key and the
 * new one). A row without bounds in the design names its source.
 */
export interface Budget {
  /** Id of the function. */
  readonly of: string;
  readonly requests: number;
  readonly levels: number;
  readonly writeUnits: number | 'size of the item';
  readonly dueUnits: number;
  /**
   * Write units of all work after the response, without the `due` index: history, sums, words, the provider's events as
   * received and applied, deliveries to one target, and the log.
   */
  readonly laterUnits?: number;
  /**
   * Rate windows that count this caller's request, besides the general window of creates and writes. The windows of
   * declines count as one because they are read together. Adds exactly this many requests, in one more level.
   */
  readonly windows?: number;
  /** Some windows count before the access rule and some after it: those of a service key, and those of allowed requests. */
  readonly countsTwice?: true;
  /** A declined payment is counted after the response in this many windows, by one request each, in one more level. */
  readonly countsDecline?: number;
  /** The response is stored under its Idempotency-Key, in exactly two requests and two more levels. */
  readonly keepsAnswer?: true;
  /** The key is held during a provider call. Adds one request in one more level. */
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
