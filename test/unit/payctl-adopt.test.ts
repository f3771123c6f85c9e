import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AdoptOptions, adopt } from '../../infra/payctl/commands/adopt.ts';
import type { Api } from '../../infra/payctl/installation/api.ts';

type Reason = 'not_reached' | 'customer_not_found';
/** Each customer's refusal reasons in turn. Afterwards the customer is adopted. */
type Refusals = Readonly<Record<string, readonly Reason[]>>;

interface SentBody {
  readonly dry_run: boolean;
  readonly rows: readonly { readonly provider_customer_id: string; readonly owner: string }[];
}

const files = (customers: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'adopt-'));
  const [map, report] = [join(folder, 'owners.csv'), join(folder, 'report.csv')];
  const lines = Array.from({ length: customers }, (_, at) => `cus_${at},user:u${at}`);
  writeFileSync(map, `provider_customer_id,owner\n${lines.join('\n')}\n`);
  return { map, report };
};

/** An API that responds with these refusals. `sent` lists the requests that it received. */
const apiWith = (refusals: Refusals = {}) => {
  const sent: SentBody[] = [];
  const tries = new Map<string, number>();
  const recordOf = (customer: string) => {
    const tried = tries.get(customer) ?? 0;
    tries.set(customer, tried + 1);
    const reason = refusals[customer]?.[tried] ?? null;
    const outcome = reason === null ? 'adopted' : 'refused';
    return { kind: 'customer', provider_id: customer, id: reason === null ? 'cust_1' : null, outcome, reason };
  };
  const post: Api['post'] = async (_, body) => {
    const { rows, ...fields } = body as SentBody;
    sent.push({ ...fields, rows });
    const answered = rows.map((row) => ({ ...row, records: [recordOf(row.provider_customer_id)] }));
    return { data: { rows: answered, counts: { adopted: 0, known: 0, refused: 0, manual: 0 } } };
  };
  const api: Api = { post, get: () => expect.unreachable(), ask: () => expect.unreachable() };
  return { api, sent, customers: () => sent.map(({ rows }) => rows.map((row) => row.provider_customer_id)) };
};

const run = (api: Api, options: Omit<AdoptOptions, 'slot'>) => adopt(api, { slot: 'provider_a', ...options });

test('payctl adopt sends 20 customers per call, and writes each into the report', async () => {
  const { map, report } = files(41);
  const { api, customers } = apiWith();
  expect(await run(api, { map, report })).toMatchObject({ exitCode: 0, json: { customers: 41, skipped: 0 } });
  expect(customers().map(({ length }) => length)).toEqual([20, 20, 1]);
  expect(readFileSync(report, 'utf8').trim().split('\n')).toHaveLength(42);
});

test('a customer with the refusal not_reached is sent again at most twice, and then stays refused', async () => {
  const { map, report } = files(3);
  const { api, customers } = apiWith({
    cus_0: ['not_reached'],
    cus_1: ['not_reached', 'not_reached', 'not_reached', 'not_reached'],
    cus_2: ['customer_not_found'],
  });
  expect(await run(api, { map, report })).toMatchObject({ exitCode: 1, json: { counts: { adopted: 1, refused: 2 } } });
  expect(customers()).toEqual([['cus_0', 'cus_1', 'cus_2'], ['cus_0', 'cus_1'], ['cus_1']]);
});

test('a further run sends only the customers that are missing or refused in its report', async () => {
  const { map, report } = files(3);
  await run(apiWith({ cus_1: ['customer_not_found'] }).api, { map, report });
  const again = apiWith();
  expect(await run(again.api, { map, report })).toMatchObject({ exitCode: 0, json: { customers: 1, skipped: 2 } });
  expect(again.customers()).toEqual([['cus_1']]);
});

test('a dry run sends every customer, whatever its report says', async () => {
  const { map, report } = files(2);
  for (let times = 0; times < 2; times += 1) {
    const dry = apiWith();
    expect(await run(dry.api, { map, report, dryRun: true })).toMatchObject({ json: { customers: 2, skipped: 0 } });
    expect(dry.sent.map(({ dry_run }) => dry_run)).toEqual([true]);
  }
});
