import type { Now } from '../../../shared/core/time.ts';
import type { Connection } from '../../../shared/platform/connection.ts';
import type { Operations } from '../machine/aws-protocol.ts';
import type { StreamSource } from './stream-source.ts';

/** The table of the host, with the indexes of the deployed table. */
export interface Database {
  /** The table's URL for other processes. */
  readonly endpoint: string;
  /** The operations of DynamoDB's wire protocol. */
  readonly operations: Operations;
  readonly stream: StreamSource;
  /** The earliest due time of all records in epoch ms; undefined if nothing is due. */
  earliestDue(): Promise<number | undefined>;
  connect(now: Now): Connection;
  close(): void;
}

export const DUE_INDEX = 'due';

/** @param dueTimes ISO times */
export const earliest = (dueTimes: readonly (string | undefined)[]): number | undefined => {
  const [first] = dueTimes.filter((due) => due !== undefined).sort();
  return first === undefined ? undefined : Date.parse(first);
};
