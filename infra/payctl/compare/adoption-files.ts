/** @module Reads and writes the CSV files of an adoption: owners, products and the report. */

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import type { ImportedRow } from '../../../shared/admin/import-requests.ts';
import { NotReachable } from '../installation/control.ts';

export interface OwnerLine {
  readonly provider_customer_id: string;
  readonly owner: string;
}

/** @throws NotReachable naming the file and its first invalid line */
const readPairs = (file: string, header: readonly [string, string]): readonly (readonly [string, string])[] => {
  const [first, ...lines] = linesOf(file);
  if (first !== header.join()) throw new NotReachable(`${file}: the first line must be ${header.join()}`);
  return lines.map((line) => {
    const [one, other, ...more] = line.split(',').map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'));
    if (!one || !other || more.length > 0) throw new NotReachable(`${file}: ${line}: use ${header.join()}`);
    return [one, other] as const;
  });
};

const linesOf = (file: string): readonly string[] => {
  try {
    return readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
  } catch (error) {
    throw new NotReachable(`${file} cannot be read`, { cause: error });
  }
};

export const readMap = (file: string): readonly OwnerLine[] =>
  readPairs(file, ['provider_customer_id', 'owner']).map(([provider_customer_id, owner]) => ({
    provider_customer_id,
    owner,
  }));

export const readPriceProducts = (file: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readPairs(file, ['stripe_price_id', 'product_id']));

const COLUMNS = ['provider_customer_id', 'owner', 'kind', 'provider_id', 'id', 'outcome', 'reason'];

/** The report file of an adoption. A later run continues the file, but a dry run replaces it. */
export interface AdoptionReport {
  /** True if an earlier run imported all records of this line. */
  readonly isDone: (line: OwnerLine) => boolean;
  readonly add: (rows: readonly ImportedRow[]) => void;
}

/** @param continues false to start a new report */
export const openReport = (file: string, continues: boolean): AdoptionReport => {
  const kept = continues && existsSync(file) ? completeLines(linesOf(file)) : new Map<string, readonly string[]>();
  writeFileSync(file, `${[COLUMNS.join(), ...[...kept.values()].flat()].join('\n')}\n`);
  return {
    isDone: (line) => kept.has(keyOf(line)),
    add: (rows) =>
      appendFileSync(
        file,
        stringify(
          rows.flatMap(({ provider_customer_id, owner, records }) =>
            records.map((one) => [
              provider_customer_id,
              owner,
              one.kind,
              one.provider_id,
              one.id,
              one.outcome,
              one.reason,
            ]),
          ),
        ),
      ),
  };
};

const keyOf = ({ provider_customer_id, owner }: OwnerLine): string => `${provider_customer_id},${owner}`;

/** The report lines of each fully imported customer, by customer and owner. */
const completeLines = ([, ...lines]: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const byRow = Map.groupBy(lines, (line) => line.split(',').slice(0, 2).join());
  return new Map([...byRow].filter(([, of]) => of.every((line) => HERE.includes(line.split(',')[5] ?? ''))));
};

const HERE = ['adopted', 'known'];
