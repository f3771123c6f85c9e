/** @module The stream of the embedded table, read from its change log in this process. */

import * as z from 'zod';
import type { ItemChanged } from '../table/change-log.ts';
import type { EmbeddedTable } from '../table/embedded-table.ts';
import { wireItem } from '../table-wire/wire-values.ts';
import type { StreamRecord } from './stream-records.ts';
import type { StreamSource } from './stream-source.ts';

const READ_LIMIT = 200;
const SEQUENCE_DIGITS = 21;
/** The position before the oldest change. */
const START = 0;

export const createEmbeddedStream = ({ log, run }: Pick<EmbeddedTable, 'log' | 'run'>, arn: string): StreamSource => {
  /** Consumers often read the same changes, so the converted records are cached. */
  let last:
    | { readonly position: number; readonly writes: number; readonly records: readonly StreamRecord[] }
    | undefined;
  const recordsAfter = (position: number): readonly StreamRecord[] => {
    if (last?.position === position && last.writes === log.writes()) return last.records;
    last = { position, writes: log.writes(), records: log.after(position, READ_LIMIT).map(recordOf) };
    return last.records;
  };
  return {
    arn,
    writeMark: log.writes,
    watch: (onWrite) => {
      log.watch(onWrite);
      return () => undefined;
    },
    openReader: (state, name) => {
      // A position beyond the newest change means that an older copy replaced the table's file. As after a restore on
      // AWS, the stream then starts with the next change.
      let position = Math.min(state.get(name, z.int()) ?? START, log.newest());
      const go = (to: number): void => {
        position = to;
        state.set(name, to);
      };
      return {
        // Reads in the same turn as the writes, so a consumer sees only changes that are on disk.
        read: () => run(() => recordsAfter(position)),
        advance: (sequence) => go(Number(sequence)),
        rewind: () => go(START),
      };
    },
    close: () => undefined,
  };
};

const recordOf = ({ sequence, key, before, after }: ItemChanged): StreamRecord => {
  const number = String(sequence).padStart(SEQUENCE_DIGITS, '0');
  return {
    eventID: number,
    eventName: before === undefined ? 'INSERT' : after === undefined ? 'REMOVE' : 'MODIFY',
    eventVersion: '1.1',
    dynamodb: {
      Keys: wireItem({ ...key }),
      ...(after && { NewImage: wireItem(after) }),
      ...(before && { OldImage: wireItem(before) }),
      SequenceNumber: number,
    },
  };
};
