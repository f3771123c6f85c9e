import type { State } from '../machine/sqlite.ts';
import type { StreamRecord } from './stream-records.ts';

/** The source from which consumers read the table's stream. */
export interface StreamSource {
  readonly arn: string;
  /** A number that changes with every write. */
  readonly writeMark: () => number;
  /** A reader that stores its position under this name. */
  openReader(state: State, name: string): StreamReader;
  /** Calls `onWrite` after writes. @returns a function that stops the calls */
  watch(onWrite: () => void): () => void;
  close(): void;
}

/** Reads the stream in order, from a saved position. */
export interface StreamReader {
  /** The records after the position, oldest first; may be empty. Reads the same records again until `advance`. */
  read(): Promise<readonly StreamRecord[]>;
  /** Marks all records up to here as processed. */
  advance(sequence: string): void;
  /** Goes back to the oldest record. */
  rewind(): void;
}
