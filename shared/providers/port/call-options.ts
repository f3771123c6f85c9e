/** The options of every call that writes at a provider. */
export interface CallOptions {
  /** Derived from our id and attempt, so that a repeat is the same call. */
  readonly idempotencyKey: string;
}
