/**
 * @module Imports a provider's customers, methods and subscriptions created by another integration. Nothing is charged,
 * canceled, paused or mailed. One transaction stores each record on condition that no record has its provider id. A
 * repeat therefore finds the record, and the same request continues a stopped import.
 */

import type { Identity } from '../access/identity.ts';
import { ownerFieldsOf } from '../access/record-kind.ts';
import { organizationCheck } from '../access/standing.ts';
import { type Product, productRecord } from '../catalog/catalog-records.ts';
import { DomainError, invalid } from '../core/errors.ts';
import { SECOND_MS } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { requireAcceptedAmount } from '../payments/accepted-amount.ts';
import type { Table } from '../platform/table.ts';
import type { SubscriptionDeps } from '../subscriptions/billing/biller.ts';
import { planOf } from '../subscriptions/billing/subscription-plan.ts';
import { type KnownRecord, type PlannedRecord, planRow, type RowOptions, shown } from './import-plan.ts';
import { readRow, readUsers } from './import-reads.ts';
import type { ImportBody, ImportCounts, ImportedRow, ImportRefusal, ImportRow, StartBody } from './import-requests.ts';
import { type Importing, storeRow } from './import-writes.ts';

interface ImportDeps extends SubscriptionDeps {
  readonly identity: Pick<Identity, 'users' | 'looksUp'>;
}

type ImportRequest = ApiRequest<unknown, unknown, ImportBody>;

const ROWS_AT_ONCE = 5;
/** Rows start only within this time. A row that starts later might exceed the function's time-out. */
const BEGIN_WITHIN_MS = 15 * SECOND_MS;

export const importRecords = async (deps: ImportDeps, request: ImportRequest): Promise<Reply> => {
  const { body, caller } = request;
  const provider = await deps.providers.require(body.provider_id, 'payments');
  if (!provider.holdings) {
    throw new DomainError('UNSUPPORTED_PROVIDER', { message: `${body.provider_id} does not support imports` });
  }
  const named = await readProducts(deps.table, body);
  const planOfStart = (start: StartBody) => planOf(start, named.get(start.product_id ?? ''));
  for (const { start } of body.rows) if (start) await requireAcceptedAmount(provider, planOfStart(start));
  const importing: Importing = {
    provider,
    users: await readUsers(deps, body.rows),
    products: new Map(Object.entries(body.products).flatMap(([price, id]) => [[price, required(named, id)] as const])),
    ...{ isDry: body.dry_run, overwritesMetadata: body.overwrite_metadata, planOfStart },
    until: deps.now() + BEGIN_WITHIN_MS,
    ownedBy: (owner) => ownerFieldsOf(owner, caller),
  };
  const rows = await importGroups(deps, body.rows, importing);
  return { data: { rows, counts: countsOf(rows) } };
};

const required = (products: ReadonlyMap<string, Product>, id: string): Product => {
  const product = products.get(id);
  if (!product) throw new Error('a product was not read');
  return product;
};

/** @throws DomainError VALIDATION_ERROR with every missing product */
const readProducts = async (table: Table, body: ImportBody): Promise<ReadonlyMap<string, Product>> => {
  const named = [
    ...Object.entries(body.products).map(([price, id]) => ({ path: `products.${price}`, id })),
    ...body.rows.flatMap(({ start }, index) =>
      start?.product_id ? [{ path: `rows.${index}.start.product_id`, id: start.product_id }] : [],
    ),
  ];
  const items = await table.getMany(named.map(({ id }) => productRecord.key(id)));
  const missing = named.filter((_, index) => items[index] === undefined);
  if (missing.length > 0) {
    throw invalid(missing.map(({ path }) => ({ path, rule: 'exists', message: 'names no product' })));
  }
  return new Map(
    items.flatMap((item) => (item ? [productRecord.parse(item)] : [])).flatMap((one) => (one ? [[one.id, one]] : [])),
  );
};

/** Imports the rows of one customer in sequence, so a later row finds the records of an earlier row. */
const importGroups = async (
  deps: ImportDeps,
  rows: readonly ImportRow[],
  importing: Importing,
): Promise<readonly ImportedRow[]> => {
  const groups = [...Map.groupBy(rows.entries(), ([, row]) => row.provider_customer_id).values()];
  const done: ImportedRow[] = [];
  const work = async (): Promise<void> => {
    for (let group = groups.shift(); group; group = groups.shift()) {
      const planned = new Map<string, KnownRecord>();
      for (const [index, row] of group) done[index] = await importRow(deps, row, { importing, planned });
    }
  };
  await Promise.all(Array.from({ length: ROWS_AT_ONCE }, work));
  return done;
};

interface InGroup {
  readonly importing: Importing;
  /** The records that earlier rows of a dry run would have stored. */
  readonly planned: Map<string, KnownRecord>;
}

const importRow = async (deps: ImportDeps, row: ImportRow, { importing, planned }: InGroup): Promise<ImportedRow> => {
  if (deps.now() > importing.until) return refusedRow(row, 'not_reached');
  const readAt = deps.now();
  const reads = await readRow(deps, row, importing);
  if (typeof reads === 'string') return refusedRow(row, reads);
  const { products, overwritesMetadata } = importing;
  const options: RowOptions = { products, overwritesMetadata, now: readAt };
  const records = planRow({ ...reads, known: new Map([...planned, ...reads.known]) }, options);
  if (importing.isDry) {
    for (const record of records) {
      if (record.outcome === 'adopted') planned.set(aliasOfRecord(record), { id: null, owner: reads.owner });
    }
    return shownRow(
      row,
      records.map((record) => shown(record, 'id' in record ? record.id : null)),
    );
  }
  const onlyIf = organizationCheck(reads.owner.kind === 'organization' ? reads.owner : {});
  return shownRow(row, await storeRow(deps, { reads, records, importing, readAt, onlyIf }));
};

const aliasOfRecord = (record: PlannedRecord): string =>
  record.outcome === 'adopted' && record.adopting.kind === 'start' ? record.adopting.alias : record.providerId;

const shownRow = ({ provider_customer_id, owner }: ImportRow, records: ImportedRow['records']): ImportedRow => ({
  provider_customer_id,
  owner,
  records,
});

const refusedRow = (row: ImportRow, reason: ImportRefusal): ImportedRow =>
  shownRow(row, [shown({ kind: 'customer', providerId: row.provider_customer_id, outcome: 'refused', reason }, null)]);

const countsOf = (rows: readonly ImportedRow[]): ImportCounts => {
  const counts = { adopted: 0, known: 0, refused: 0, manual: 0 };
  for (const { outcome } of rows.flatMap(({ records }) => records)) counts[outcome] += 1;
  return counts;
};
