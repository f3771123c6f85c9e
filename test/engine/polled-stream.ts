/** @module Reads an engine's stream by polling its Streams API. */
import * as z from 'zod';
import type { StreamSource } from '../../infra/local/dynamodb/stream-source.ts';
import { createGetRecords, createStreamReader, streamPositionSchema } from './stream-reader.ts';
import { createStreamsApi } from './streams-api.ts';

export interface PolledStreamOptions {
  readonly endpoint: string;
  readonly arn: string;
  /** A number that changes with every write. If undefined, every read polls the engine. */
  readonly writeMark: (() => number) | undefined;
}

const WATCH_MS = 20;

export const createPolledStream = ({ endpoint, arn, writeMark }: PolledStreamOptions): StreamSource => {
  const api = createStreamsApi(endpoint);
  let looks = 0;
  const getRecords = createGetRecords(api, writeMark);
  return {
    arn,
    // Without the engine's mark, every look counts as a possible write.
    writeMark: writeMark ?? (() => (looks += 1)),
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
