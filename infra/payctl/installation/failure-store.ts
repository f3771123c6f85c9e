/** Changes that a reader of the table's stream could not do in ten tries: they are kept whole, and leave the stream. */
export interface FailedChange {
  readonly id: string;
  /** The function that gave it up. */
  readonly reader: string;
  /** ISO time. */
  readonly failedAt: string;
  /** Partition keys of the items that changed; what they say stays where it is. */
  readonly about: readonly string[];
}

export interface FailureStore {
  ids(): AsyncIterable<string>;
  read(id: string): Promise<FailedChange>;
  /** Hands it to its reader once more. @returns why it stays; undefined: it is done, and removed. */
  redo(id: string): Promise<string | undefined>;
}
