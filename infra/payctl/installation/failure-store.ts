/**
 * A change of the table that a stream reader gave up on. The change has left the stream, and its whole event is stored.
 */
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
   * Sends the change to its reader again. @returns undefined if it succeeded and the change is removed, else the
   * reason.
   */
  redo(id: string): Promise<string | undefined>;
}
