/** @module How search results show each kind of record. */

import * as z from 'zod';
import type { Scope } from '../access/scopes.ts';
import { once } from '../core/once.ts';
import { keysOf } from '../core/rows.ts';
import { customerRecord } from '../customers/customer.ts';
import { timestamp } from '../http/fields.ts';
import { organizationRecord } from '../organizations/organization.ts';
import { paymentMethodRecord } from '../payment-methods/payment-method.ts';
import { disputeOf } from '../payments/dispute.ts';
import { paymentRecord } from '../payments/payment.ts';
import { refundOf } from '../payments/refunds/refund.ts';
import type { ItemKind } from '../platform/keys.ts';
import type { Item, Table } from '../platform/table.ts';
import { payerFields, payersOf } from '../queries/payers.ts';
import { subscriptionRecord } from '../subscriptions/record/subscription.ts';

const HIT_KINDS = [
  'user',
  'customer',
  'organization',
  'method',
  'subscription',
  'payment',
  'refund',
  'dispute',
] as const;

export const searchHits = /* @__PURE__ */ once(() =>
  z.array(
    z
      .object({
        kind: z.enum(HIT_KINDS).describe('Whether the hit is a payment, a customer, a user or another record.'),
        id: z.string().meta({
          description: 'Our id of the record, or the id of the user.',
          examples: ['pay_814fd0524add4278431c499b'],
        }),
        label: z.string().describe('A label for people, such as the description or name; else the id.'),
        status: z.string().nullable().describe('The status of the record; null for a kind without statuses.'),
        created_at: timestamp.nullable().describe('When the record was created; null for a user.'),
        amount_cents: z.int().nullable().describe('The amount in minor units; null for a kind without amounts.'),
        currency: z.string().nullable().describe('The currency of the amount; null for a kind without amounts.'),
        payment_id: z.string().nullable().describe('The payment of a refund or dispute; null for other kinds.'),
        ...payerFields(),
      })
      .meta({ id: 'SearchHit', description: 'A record that a search has found.' }),
  ),
);
export type SearchHit = z.output<ReturnType<typeof searchHits>>[number];

export const searchMeta = z
  .object({ truncated: z.boolean().describe('True if records may be missing from the response.') })
  .describe('Whether the response may be incomplete.');

type Known = Pick<SearchHit, 'kind' | 'id'> & { readonly label: string | undefined } & Partial<
    Omit<SearchHit, 'label'>
  >;

const NOTHING = {
  status: null,
  created_at: null,
  amount_cents: null,
  currency: null,
  payment_id: null,
  user_email: null,
  organization_name: null,
} as const;

const hitOf = ({ kind, id, label, ...known }: Known): SearchHit => ({
  kind,
  id,
  label: label || id,
  ...NOTHING,
  ...known,
});

type HitItem = Extract<ItemKind, 'PAY' | 'RFD' | 'DSP' | 'SUB' | 'CUS' | 'PM' | 'ORG'>;
type Hits = (table: Table, items: readonly Item[]) => Promise<readonly SearchHit[]>;

/** The search hits of each kind of record, by sort key, in the order of the response. */
const HITS: Readonly<Record<HitItem, Hits>> = {
  CUS: async (_, items) => items.flatMap((item) => customerHit(item)),
  ORG: async (_, items) => items.flatMap((item) => organizationHit(item)),
  PM: async (_, items) => items.flatMap((item) => methodHit(item)),
  SUB: (table, items) => subscriptionHits(table, items),
  PAY: (table, items) => paymentHits(table, items),
  RFD: async (_, items) => items.map(refundHit),
  DSP: async (_, items) => items.map(disputeHit),
};

const READ_SCOPES: Readonly<Record<HitItem, Scope>> = {
  CUS: 'customers:read',
  ORG: 'customers:read',
  PM: 'customers:read',
  SUB: 'subscriptions:read',
  PAY: 'payments:read',
  RFD: 'payments:read',
  DSP: 'payments:read',
};

/** The hits of kinds readable by the caller. */
export const hitsIn = async (
  table: Table,
  found: readonly (Item | undefined)[],
  mayRead: (scope: Scope) => boolean,
): Promise<readonly SearchHit[]> => {
  const items = found.filter((item) => item !== undefined);
  const parts = await Promise.all(
    keysOf(HITS)
      .filter((kind) => mayRead(READ_SCOPES[kind]))
      .map((kind) =>
        HITS[kind](
          table,
          items.filter(({ sk }) => sk === kind),
        ),
      ),
  );
  return parts.flat();
};

/** A user, with the e-mail address from the identity service, else from the user's records. */
export const userHit = (
  { id, email }: { readonly id: string; readonly email?: string },
  records: readonly SearchHit[],
): SearchHit => {
  const known = email ?? records.find(({ user_email }) => user_email !== null)?.user_email ?? null;
  return hitOf({ kind: 'user', id, label: known ?? undefined, user_email: known });
};

const customerHit = (item: Item): SearchHit[] => {
  const customer = customerRecord.parse(item);
  if (!customer) return [];
  const { id, name, email, createdAt } = customer;
  return [hitOf({ kind: 'customer', id, label: name ?? email, created_at: createdAt, user_email: email ?? null })];
};

const organizationHit = (item: Item): SearchHit[] => {
  const organization = organizationRecord.parse(item);
  if (!organization) return [];
  const { id, name, createdAt } = organization;
  return [hitOf({ kind: 'organization', id, label: name, created_at: createdAt, organization_name: name })];
};

const methodHit = (item: Item): SearchHit[] => {
  const method = paymentMethodRecord.parse(item);
  if (!method) return [];
  const { id, type, walletType, cardBrand, lastFour, createdAt } = method;
  const label = [cardBrand ?? walletType ?? type, lastFour].filter((part) => part !== undefined).join(' ');
  return [hitOf({ kind: 'method', id, label, created_at: createdAt })];
};

const subscriptionHits: Hits = async (table, items) => {
  const found = items.map(subscriptionRecord.parse).filter((subscription) => subscription !== undefined);
  const payers = await payersOf(table, found);
  return found.map(({ id, status, createdAt, totalCents, currency, ...named }, index) =>
    hitOf({
      ...{ kind: 'subscription', id, label: named.productName ?? nameOf(named), status, created_at: createdAt },
      ...{ amount_cents: totalCents, currency, ...payers[index] },
    }),
  );
};

const paymentHits: Hits = async (table, items) => {
  const found = items.map(paymentRecord.parse).filter((payment) => payment !== undefined);
  const payers = await payersOf(table, found);
  return found.map(({ id, status, createdAt, totalCents, currency, ...named }, index) =>
    hitOf({
      ...{ kind: 'payment', id, label: nameOf(named), status, created_at: createdAt },
      ...{ amount_cents: totalCents, currency, ...payers[index] },
    }),
  );
};

interface Named {
  readonly description?: string | undefined;
  readonly concept?: string | undefined;
  readonly referenceCode?: string | undefined;
}

const nameOf = ({ description, concept, referenceCode }: Named): string | undefined =>
  description ?? concept ?? referenceCode;

const refundHit = (item: Item): SearchHit => {
  const { id, reason, status, createdAt, amountCents, currency, paymentId } = refundOf(item);
  return hitOf({
    ...{ kind: 'refund', id, label: reason, status, created_at: createdAt },
    ...{ amount_cents: amountCents, currency, payment_id: paymentId },
  });
};

const disputeHit = (item: Item): SearchHit => {
  const { id, reason, status, createdAt, amountCents, currency, paymentId } = disputeOf(item);
  return hitOf({
    ...{ kind: 'dispute', id, label: reason, status, created_at: createdAt },
    ...{ amount_cents: amountCents, currency, payment_id: paymentId },
  });
};
