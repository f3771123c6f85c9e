import type { Now } from '../../../shared/core/time.ts';
import type { Connection } from '../../../shared/platform/connection.ts';
import type { Operations } from '../machine/aws-protocol.ts';
import type { StreamSource } from './stream-source.ts';

/** The table of the host, with the indexes of the deployed table. */
export interface Database {
  /** The URL at which other processes reach the table. */
  readonly endpoint: string;
  /** The operations of the wire protocol that the host serves. */
  readonly operations: Operations;
  readonly stream: StreamSource;
  /** The earliest due time of all records, epoch ms, or undefined. */
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
