/**
 * Budget of each endpoint at DynamoDB while its caller waits, without the call to the provider: requests, sequential
 * levels, and write units of the table with its `owner` and `project` indexes. `dueUnits` are those of the `due`
 * index: setting or removing a due time writes one key, moving it writes two (the old key and the new one). A row
 * without bounds in the design names its source.
 */
export interface Budget {
  /** Id of the function. */
  readonly of: string;
  readonly requests: number;
  readonly levels: number;
  readonly writeUnits: number | 'size of the item';
  readonly dueUnits: number;
  /**
   * Rate windows that this caller's request is counted in beside the general one of creates and writes, and one for those of
   * declines, which are read together: so many requests, exactly, in one level more.
   */
  readonly windows?: number;
  /** Of a create: some of the windows count only requests that passed the access rule, in a level of their own. */
  readonly countsAllowed?: true;
  /** A declined payment is counted after the response in this many windows: one request each, in one more level. */
  readonly countsDecline?: number;
  /** The response is stored under its Idempotency-Key: exactly two requests, in two more levels. */
  readonly keepsAnswer?: true;
  /** The key is held while a provider is asked: one request in one level more. */
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
