import type { State } from '../machine/sqlite.ts';
import type { StreamRecord } from './stream-records.ts';

/** The table's stream as its consumers read it. */
export interface StreamSource {
  readonly arn: string;
  /** A number that changes with every write. */
  readonly writeMark: () => number;
  /** Opens a reader that stores its position under this name. */
  openReader(state: State, name: string): StreamReader;
  /** Calls `onWrite` after writes. @returns a function that stops the calls */
  watch(onWrite: () => void): () => void;
  close(): void;
}

/** Reads the stream in order, from a saved position. */
export interface StreamReader {
  /** Reads the records after the position, oldest first; may be empty. Returns the same records until `advance`. */
  read(): Promise<readonly StreamRecord[]>;
  /** Moves the position behind this record. */
  advance(sequence: string): void;
  /** Moves the position back to the oldest record. */
  rewind(): void;
}
