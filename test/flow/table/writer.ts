/**
 * @module A process that writes to the embedded table as fast as possible with eight concurrent writers, until it is
 * killed. After each response it prints the number of the write.
 */

import { writeSync } from 'node:fs';
import { argv } from 'node:process';
import { openEmbeddedTable } from '../../../infra/local/table/embedded-table.ts';
import { STREAMED } from './sort-keys.ts';

const [, , file = '', round = ''] = argv;
const connection = openEmbeddedTable({ file, isRecorded: (sortKey) => sortKey === STREAMED }).connect(Date.now);
const WRITERS = 8;
const TEXT = 'x'.repeat(500);

const write = async (writer: number): Promise<void> => {
  for (let count = 0; ; count += 1) {
    const id = `${round}-${writer}-${count}`;
    await connection.transact([
      { put: { pk: id, sk: STREAMED, text: TEXT, owner: `writer ${writer}`, sort: id, f: {} }, if: [{ absent: true }] },
      { update: { pk: `writer ${writer}`, sk: 'COUNT' }, changes: { add: { written: 1 } } },
    ]);
    writeSync(1, `${id}\n`);
  }
};

await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
