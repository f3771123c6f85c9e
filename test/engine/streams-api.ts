import { Agent, request } from 'node:http';
import type { StreamRecord } from '../../infra/local/dynamodb/stream-records.ts';
import { REGION } from '../../infra/local/machine/environment.ts';

/**
 * Calls the engine's Streams API directly (AWS JSON over HTTP). A third of all calls to the engine read the stream, and
 * the SDK's client needs several times the processor time per read.
 */
export interface StreamsApi {
  /** @returns the ids of all shards, oldest first */
  shardsOf(streamArn: string): Promise<readonly string[]>;
  /** @param after the previous record's sequence number; if undefined, reading starts at the oldest record */
  iteratorAt(position: {
    readonly streamArn: string;
    readonly shard: string;
    readonly after: string | undefined;
  }): Promise<string | undefined>;
  /** @throws StreamsApiError ExpiredIteratorException, TrimmedDataAccessException */
  getRecords(iterator: string): Promise<RecordsPage>;
  close(): void;
}

export interface RecordsPage {
  readonly Records?: readonly StreamRecord[];
  readonly NextShardIterator?: string | null;
}

/** An error from the engine. */
export class StreamsApiError extends Error {
  /** The exception's name without its namespace. */
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'StreamsApiError';
    this.code = code;
  }
}

interface StreamDescription {
  readonly Shards?: readonly { readonly ShardId?: string }[];
  readonly LastEvaluatedShardId?: string | null;
}

const READ_LIMIT = 200;

/** A signature that is not computed. Local engines parse its key id and region, but do not verify it. */
const AUTHORIZATION = `AWS4-HMAC-SHA256 Credential=local/20200101/${REGION}/dynamodb/aws4_request, SignedHeaders=host, Signature=local`;

export const createStreamsApi = (endpoint: string): StreamsApi => {
  const agent = new Agent({ keepAlive: true });

  const call = <T>(operation: string, input: object): Promise<T> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(input);
      const sent = request(endpoint, {
        agent,
        method: 'POST',
        headers: {
          authorization: AUTHORIZATION,
          'content-type': 'application/x-amz-json-1.0',
          'content-length': Buffer.byteLength(body),
          'x-amz-date': '20200101T000000Z',
          'x-amz-target': `DynamoDBStreams_20120810.${operation}`,
        },
      });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => {
          text += part;
        });
        answer.on('error', reject);
        answer.on('end', () => {
          try {
            if (answer.statusCode === 200) resolve(JSON.parse(text));
            else reject(errorOf(operation, text));
          } catch (error) {
            reject(error);
          }
        });
      });
      sent.end(body);
    });

  return {
    shardsOf: async (streamArn) => {
      const shards: string[] = [];
      let after: string | null | undefined;
      do {
        const { StreamDescription } = await call<{ readonly StreamDescription?: StreamDescription }>('DescribeStream', {
          StreamArn: streamArn,
          ...(after && { ExclusiveStartShardId: after }),
        });
        for (const { ShardId } of StreamDescription?.Shards ?? []) if (ShardId) shards.push(ShardId);
        after = StreamDescription?.LastEvaluatedShardId;
      } while (after);
      return shards;
    },
    iteratorAt: async ({ streamArn, shard, after }) => {
      const from =
        after === undefined
          ? { ShardIteratorType: 'TRIM_HORIZON' }
          : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: after };
      const answer = await call<{ readonly ShardIterator?: string }>('GetShardIterator', {
        StreamArn: streamArn,
        ShardId: shard,
        ...from,
      });
      return answer.ShardIterator;
    },
    getRecords: (iterator) => call('GetRecords', { ShardIterator: iterator, Limit: READ_LIMIT }),
    close: () => agent.destroy(),
  };
};

const errorOf = (operation: string, text: string): StreamsApiError => {
  const { __type: type = '', message = '' } = JSON.parse(text) as { __type?: string; message?: string };
  return new StreamsApiError(type.split('#').at(-1) ?? '', `${operation}: ${type} ${message}`.trim());
};
