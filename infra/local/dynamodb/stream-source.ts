import * as z from 'zod';
import type { State } from '../machine/sqlite.ts';
import { createGetRecords, createStreamReader, type StreamReader, streamPositionSchema } from './stream-reader.ts';
import { createStreamsApi } from './streams-api.ts';

/**
 * The source from which consumers read the table's stream, either the engine's Streams API or the change log of the
 * embedded table.
 */
export interface StreamSource {
  readonly arn: string;
  /** A number that changes with every write. If undefined, the stream is polled all the time. */
  readonly writeMark: (() => number) | undefined;
  /** A reader that stores its position under this name. */
  openReader(state: State, name: string): StreamReader;
  /** Calls `onWrite` after writes. @returns a function that stops the calls */
  watch(onWrite: () => void): () => void;
  close(): void;
}

export interface PolledStreamOptions {
  readonly endpoint: string;
  readonly arn: string;
  readonly writeMark: (() => number) | undefined;
}

const WATCH_MS = 20;

export const createPolledStream = ({ endpoint, arn, writeMark }: PolledStreamOptions): StreamSource => {
  const api = createStreamsApi(endpoint);
  const getRecords = createGetRecords(api, writeMark);
  return {
    arn,
    writeMark,
    openReader: (state, name) =>
      createStreamReader({
        api,
        getRecords,
        streamArn: arn,
        load: () => state.get(name, z.nullable(streamPositionSchema)) ?? undefined,
        save: (position) => state.set(name, position ?? null),
      }),
    watch: (onWrite) => {
      if (!writeMark) return () => undefined;
      let seen = writeMark();
      const look = () => {
        const mark = writeMark();
        if (mark !== seen) onWrite();
        seen = mark;
      };
      const timer = setInterval(look, WATCH_MS);
      return () => clearInterval(timer);
    },
    close: api.close,
  };
};
