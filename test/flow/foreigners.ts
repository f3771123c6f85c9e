import { expect } from 'vitest';
import type { RequestOptions, TestHost } from './host.ts';
import { asMerchant, createKey, newAdmin } from './keys.ts';
import type { ParsedJson } from './routes.ts';

/** Steps of tests about another integration's records at a provider. */
export type ForeignFields = Readonly<Record<string, unknown>>;

interface ForeignBody {
  readonly provider?: string;
  readonly customers?: readonly ForeignFields[];
  readonly subscriptions?: readonly ForeignFields[];
}

interface ForeignRecords {
  readonly customers: readonly { readonly id: string; readonly payment_methods: readonly string[] }[];
  readonly subscriptions: readonly {
    readonly id: string;
    readonly customer: string;
    readonly items: readonly { readonly id: string; readonly price: string }[];
  }[];
}

export const foreign = (service: TestHost, body: ForeignBody): Promise<ForeignRecords> =>
  service.control('POST', '/simulator/foreign', body);

/** Requests of a service key with the import scope only. */
export const importer = async (service: TestHost): Promise<RequestOptions> =>
  asMerchant(await createKey(service, await newAdmin(service), { scopes: ['imports:write'] }));

export const tryImport = async (
  service: TestHost,
  who: RequestOptions,
  rows: readonly ForeignFields[],
  fields: ForeignFields = {},
): Promise<{ readonly status: number; readonly body: ParsedJson }> =>
  service.post('/admin/imports', { provider_id: 'provider_a', rows, ...fields }, who);

/** Per row, the kind of each record with its outcome and reason. */
export const importedOutcomes = ({
  status,
  body,
}: {
  readonly status: number;
  readonly body: ParsedJson;
}): string[][] => {
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.data.rows.map(({ records }: ParsedJson) =>
    records.map(({ kind, outcome, reason }: ParsedJson) =>
      [kind, outcome, ...(reason === null ? [] : [reason])].join(' '),
    ),
  );
};
