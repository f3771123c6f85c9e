import { expect } from 'vitest';
import { FOREIGN_KINDS } from './foreign-kinds.ts';
import { type ForeignFields, foreign, importedOutcomes, importer, tryImport } from './foreigners.ts';
import type { RequestOptions, TestHost } from './host.ts';

/** Half the limit of a call, because a busy machine must finish each call in time. */
const ROWS_PER_CALL = 20;

/** Customers of all kinds in turn, each with its import row and its expected outcomes. */
const makeForeigners = async (service: TestHost, count: number) => {
  const kinds = Array.from({ length: count }, (_, index) => FOREIGN_KINDS[index % FOREIGN_KINDS.length]);
  const made = await foreign(service, {
    customers: kinds.map((kind, index) => kind?.customer(index) ?? {}),
    subscriptions: kinds.flatMap((kind, index) =>
      (kind?.subscriptions(index, service.now()) ?? []).map((one) => ({ ...one, customer: index })),
    ),
  });
  await service.settle();
  return kinds.map((kind, index) => ({
    row: { provider_customer_id: made.customers[index]?.id, owner: `guest:guest.${index}@example.com` },
    outcomes: kind?.outcomes(index) ?? [],
  }));
};

type Foreigners = Awaited<ReturnType<typeof makeForeigners>>;

const importAll = async (
  service: TestHost,
  who: RequestOptions,
  { all, fields = {} }: Importing,
): Promise<string[][]> => {
  const outcomes: string[][] = [];
  for (let start = 0; start < all.length; start += ROWS_PER_CALL) {
    const rows = all.slice(start, start + ROWS_PER_CALL).map(({ row }) => row);
    outcomes.push(...importedOutcomes(await tryImport(service, who, rows, fields)));
  }
  return outcomes;
};

interface Importing {
  readonly all: Foreigners;
  readonly fields?: ForeignFields;
}

/** Expects the outcomes of FOREIGN_KINDS in a dry run and a run. In a second run, all stored records are known. */
export const expectKindsImported = async (service: TestHost, count: number): Promise<void> => {
  const all = await makeForeigners(service, count);
  const who = await importer(service);
  await service.clearProviderRequests();
  const before = (await service.ledger()).charges.length;
  const wanted = all.map(({ outcomes }) => outcomes);
  expect(await importAll(service, who, { all, fields: { dry_run: true } })).toEqual(wanted);
  expect((await service.providerRequests()).filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(await importAll(service, who, { all })).toEqual(wanted);
  const writes = (await service.providerRequests()).filter(({ method }) => method !== 'GET');
  const adopted = wanted.flat().filter((outcome) => outcome === 'subscription adopted').length;
  expect(new Set(writes.map(({ path }) => path)).size).toBe(writes.length);
  expect(writes.length).toBe(adopted);
  for (const { path } of writes) expect(path).toMatch(/\/v1\/subscriptions\/sub_/);
  const known = wanted.map((outcomes) => outcomes.map((outcome) => outcome.replace(/ adopted$/, ' known')));
  expect(await importAll(service, who, { all })).toEqual(known);
  expect((await service.ledger()).charges).toHaveLength(before);
  const events = await service.busEvents();
  const names = new Set(events.filter(({ source }) => source === 'payments').map((event) => event['detail-type']));
  for (const name of names) expect(['subscription.created']).toContain(name);
};
