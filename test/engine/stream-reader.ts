import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { StreamRecord } from '../../infra/local/dynamodb/stream-records.ts';
import type { StreamReader } from '../../infra/local/dynamodb/stream-source.ts';
import { type RecordsPage, type StreamsApi, StreamsApiError } from './streams-api.ts';

/** A saved position in a table's stream, which is read in order. Local engines have one open shard at any time. */
export interface StreamPosition {
  readonly shard: string;
  /** The last processed record; undefined before the first record of this shard. */
  readonly sequence?: string | undefined;
}
export const streamPositionSchema: z.ZodType<StreamPosition> = z.object({
  shard: z.string(),
  sequence: z.string().optional(),
});

export type GetRecords = (iterator: string) => Promise<RecordsPage>;

export interface StreamReaderOptions {
  readonly api: Pick<StreamsApi, 'shardsOf' | 'iteratorAt'>;
  readonly getRecords: GetRecords;
  readonly streamArn: string;
  readonly load: () => StreamPosition | undefined;
  readonly save: (position: StreamPosition | undefined) => void;
}

/** Reads records. A repeated read with the same iterator is answered from memory if nothing was written in between. */
export const createGetRecords = (
  api: Pick<StreamsApi, 'getRecords'>,
  writeMark: (() => number) | undefined,
): GetRecords => {
  let last: { readonly iterator: string; readonly mark: number; readonly answer: Promise<RecordsPage> } | undefined;
  return (iterator) => {
    const mark = writeMark?.();
    if (last?.iterator === iterator && last.mark === mark) return last.answer;
    const answer = api.getRecords(iterator);
    last = mark === undefined ? undefined : { iterator, mark, answer };
    answer.catch(() => {
      last = undefined;
    });
    return answer;
  };
};

export const createStreamReader = ({ api, getRecords, streamArn, load, save }: StreamReaderOptions): StreamReader => {
  let position = load();
  let iterator: string | undefined;
  /** The iterator after the last read. Valid once all read records are processed. */
  let following: { readonly iterator: string | undefined; readonly last: string } | undefined;

  const go = (to: StreamPosition | undefined): void => {
    position = to;
    iterator = undefined;
    save(to);
  };
  const openShard = async (): Promise<StreamPosition | undefined> => {
    const shards = await api.shardsOf(streamArn);
    if (position && shards.includes(position.shard)) return position;
    return shards[0] === undefined ? undefined : { shard: shards[0] };
  };
  const openIterator = async (): Promise<string | undefined> => {
    position = await openShard();
    if (!position) return undefined;
    const { shard, sequence } = position;
    return api.iteratorAt({ streamArn, shard, after: sequence });
  };
  /** Moves from a closed, completely read shard to the next shard, if any. */
  const nextShard = async (): Promise<void> => {
    const shards = await api.shardsOf(streamArn);
    const next = shards[shards.indexOf(position?.shard ?? '') + 1];
    if (next !== undefined) go({ shard: next });
  };
  const readOnce = async (): Promise<readonly StreamRecord[]> => {
    iterator ??= await openIterator();
    if (iterator === undefined) return [];
    const answer = await getRecords(iterator);
    const records = (answer.Records ?? []).map(asOnAws);
    const last = records.at(-1)?.dynamodb?.SequenceNumber;
    if (last !== undefined) following = { iterator: answer.NextShardIterator ?? undefined, last };
    else if (!answer.NextShardIterator) await nextShard();
    else iterator = answer.NextShardIterator;
    return records;
  };

  return {
    read: async () => {
      try {
        return await readOnce();
      } catch (error) {
        if (!(error instanceof StreamsApiError)) throw error;
        if (error.code === 'ExpiredIteratorException') go(position);
        else if (error.code === 'TrimmedDataAccessException') go(undefined);
        else throw error;
        return await readOnce();
      }
    },
    advance: (sequence) => {
      if (!position) return;
      go({ shard: position.shard, sequence });
      if (following?.last === sequence) iterator = following.iterator;
    },
    rewind: () => go(undefined),
  };
};

/** Renames the record of a put that changes nothing, so that consumers ignore it. DynamoDB writes no such record. */
const asOnAws = (record: StreamRecord): StreamRecord => {
  const { OldImage, NewImage } = record.dynamodb ?? {};
  const isChange = record.eventName !== 'MODIFY' || !isDeepStrictEqual(OldImage, NewImage);
  return isChange ? record : { ...record, eventName: 'UNCHANGED' };
};
