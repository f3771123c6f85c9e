/** @module The payer's e-mail address and the organization's name in the records of the merchant's lists. */

import * as z from 'zod';
import { once } from '../core/once.ts';
import { customerRecord } from '../customers/customer.ts';
import { organizationRecord } from '../organizations/organization.ts';
import type { Key } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';

/** A payment or a subscription. */
interface Paid {
  readonly userEmail?: string | undefined;
  readonly guestEmail?: string | undefined;
  readonly customerId?: string | undefined;
  readonly organizationId?: string | undefined;
}

interface PayerView {
  readonly user_email: string | null;
  readonly organization_name: string | null;
}

export const PAYER_COLUMNS = ['user_email', 'organization_name'] as const satisfies readonly (keyof PayerView)[];

export const payerFields = /* @__PURE__ */ once(() => ({
  user_email: z
    .string()
    .nullable()
    .describe("The e-mail address of the user or guest who pays, else the customer's; null if there is none."),
  organization_name: z
    .string()
    .nullable()
    .describe('The name of the organization that owns the record; null for a personal record.'),
}));

/** Reads the customers and organizations of a page together, in one request per hundred. */
export const payersOf = async (table: Table, records: readonly (Paid | undefined)[]): Promise<readonly PayerView[]> => {
  const keys = records.map((record) => record && keysOf(record));
  const wanted = keys.flatMap((of) => [of?.customer ?? [], of?.organization ?? []].flat());
  const items = wanted.length === 0 ? [] : await table.getMany(wanted);
  const found = new Map(items.flatMap((item): [unknown, Item][] => (item ? [[item['pk'], item]] : [])));
  return records.map((record, index): PayerView => {
    const of = keys[index];
    const [customer, organization] = [found.get(of?.customer?.pk), found.get(of?.organization?.pk)];
    return {
      user_email: emailIn(record) ?? (customer && customerRecord.parse(customer)?.email) ?? null,
      organization_name: (organization && organizationRecord.parse(organization)?.name) ?? null,
    };
  });
};

const emailIn = (record: Paid | undefined): string | undefined => record?.userEmail ?? record?.guestEmail;

/** The keys of a record's payer. The customer is only needed if the record has no e-mail address. */
const keysOf = (record: Paid): { readonly customer?: Key; readonly organization?: Key } => ({
  ...(emailIn(record) === undefined && record.customerId && { customer: customerRecord.key(record.customerId) }),
  ...(record.organizationId && { organization: organizationRecord.key(record.organizationId) }),
});
