/** A change that a reader of the table's stream failed to process ten times. It left the stream and is kept whole. */
export interface FailedChange {
  readonly id: string;
  /** The function that gave up on the change. */
  readonly reader: string;
  /** ISO time. */
  readonly failedAt: string;
  /** Partition keys of the changed items. The items' contents are not shown. */
  readonly about: readonly string[];
}

export interface FailureStore {
  ids(): AsyncIterable<string>;
  read(id: string): Promise<FailedChange>;
  /**
   * Gives the change to its reader again. @returns why it failed; undefined: it succeeded, and the change is removed.
   */
  redo(id: string): Promise<string | undefined>;
}
