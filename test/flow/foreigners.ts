import type { TestHost } from './host.ts';

/** Steps of tests about records that another integration has made at a provider. */
export type Fields = Readonly<Record<string, unknown>>;

export interface ForeignBody {
  readonly provider?: string;
  readonly customers?: readonly Fields[];
  readonly subscriptions?: readonly Fields[];
}

export interface ForeignRecords {
  readonly customers: readonly { readonly id: string; readonly payment_methods: readonly string[] }[];
  readonly subscriptions: readonly {
    readonly id: string;
    readonly customer: string;
    readonly items: readonly { readonly id: string; readonly price: string }[];
  }[];
}

export const foreign = (service: TestHost, body: ForeignBody): Promise<ForeignRecords> =>
  service.control('POST', '/simulator/foreign', body);
