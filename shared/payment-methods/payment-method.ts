/**
 * @module A saved payment method is a card or bank account that a provider stores for a payer. The record never has a
 * card number or token. A method is attached to a customer once it is set up.
 */

import * as z from 'zod';
import type { Showing } from '../access/included-records.ts';
import {
  guestCreationOf,
  networkColumn,
  ownerColumns,
  ownerIdsOf,
  ownerOfRecord,
  type RecordKind,
} from '../access/record-kind.ts';
import type { MethodKind } from '../core/fact-words.ts';
import { isIdOf } from '../core/ids.ts';
import { storedCardSchema } from '../core/payment-facts.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import type { Instant } from '../core/time.ts';
import { aliasesOf } from '../platform/alias.ts';
import { type Owner, recordKey } from '../platform/keys.ts';
import { knownAtSchema, ownedShape } from '../platform/owned-record.ts';
import { storedReader } from '../platform/stored-reader.ts';
import type { Table } from '../platform/table.ts';
import { type DefaultSlot, promoteNewest, readDefault } from '../platform/table-defaults.ts';
import { storedRecordFields } from '../platform/versioned-record.ts';
import { openSetupSchema, setupEndsAt, setupSecretView, setupStatusView } from './method-setup.ts';

const optional = z.string().optional();

export const paymentMethodSchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    providerId: z.enum(PROVIDER_SLOTS),
    providerMethodId: z.string(),
    customerId: optional,
    providerCustomerId: optional,
    type: z.enum(['card', 'bank_account']),
    ...storedCardSchema.unwrap().shape,
    billingAddressId: optional,
    alias: optional,
    /** An organization's method names no user, so a user's access ends with the membership. */
    ...ownerColumns,
    ...networkColumn,
    knownAt: knownAtSchema,
    /** Set while the payer still has to authenticate the method. */
    setup: openSetupSchema.optional(),
  }),
);
export type PaymentMethod = z.infer<typeof paymentMethodSchema>;

export const kindOf = ({ type, walletType }: Pick<PaymentMethod, 'type' | 'walletType'>): MethodKind =>
  walletType === undefined ? type : 'wallet';

export const paymentMethodShape = /* @__PURE__ */ ownedShape<PaymentMethod>({
  kind: 'PM',
  read: storedReader(paymentMethodSchema),
  ownerOf: ownerOfRecord,
  listFields: (method) => ({
    y: method.type,
    b: method.cardBrand?.toLowerCase(),
    l: method.lastFour,
    a: method.alias,
    s: method.alias?.toLowerCase(),
    c: method.customerId,
    n: method.setup && true,
  }),
  dueAt: setupEndsAt,
});

export const paymentMethodRecord: RecordKind<PaymentMethod> = {
  resource: 'payment_method',
  readScope: 'customers:read',
  key: (id) => recordKey('PM', id),
  aliases: (id) =>
    isIdOf('payment_method', id)
      ? undefined
      : { ...aliasesOf('PM', PROVIDER_SLOTS, id), isNamed: (item) => item['providerMethodId'] === id },
  parse: (item) => paymentMethodShape.parse(item),
  ownedBy: ownerIdsOf,
  provesGuest: guestCreationOf,
  rule: 'owned',
  guestsRead: true,
};

/** The method's view inside a payment. */
export const methodBeside: Showing<PaymentMethod> = {
  kind: paymentMethodRecord,
  view: (method) => ({
    id: method.id,
    payment_type: method.type,
    wallet_type: method.walletType ?? null,
    card_brand: method.cardBrand ?? null,
    last_four: method.lastFour ?? null,
    expiry_month: method.expiryMonth ?? null,
    expiry_year: method.expiryYear ?? null,
    alias: method.alias ?? null,
  }),
};

export const methodView = (method: PaymentMethod, isDefault: boolean) => ({
  id: method.id,
  provider_id: method.providerId,
  provider_payment_method_id: method.providerMethodId,
  type: method.type,
  wallet_type: method.walletType ?? null,
  card_brand: method.cardBrand ?? null,
  card_last_four: method.lastFour ?? null,
  card_exp_month: method.expiryMonth ?? null,
  card_exp_year: method.expiryYear ?? null,
  funding: method.funding ?? null,
  country: method.country ?? null,
  fingerprint: method.fingerprint ?? null,
  billing_address_id: method.billingAddressId ?? null,
  customer_id: method.customerId ?? null,
  is_default: isDefault,
  alias: method.alias ?? null,
  is_guest_method: method.guestId !== undefined,
  ...setupStatusView(method),
  ...(method.organizationId && { organization_id: method.organizationId }),
  created_at: method.createdAt,
  updated_at: method.updatedAt,
});

/** The view with the client secret, for callers who may change the method. */
export const methodWithSecret = (method: PaymentMethod, isDefault: boolean, now: Instant) => ({
  ...methodView(method, isDefault),
  ...setupSecretView(method, now),
});

/** An owner has one default method. A method becomes the default only once it is set up. */
export const methodDefaultSlot = (owner: Owner): DefaultSlot => ({
  owner,
  kind: 'PM',
  successorIf: [{ lacks: 'f.n' }],
});

export const methodDefaultSlotOf = (method: PaymentMethod): DefaultSlot => {
  const owner = ownerOfRecord(method);
  if (!owner) throw new Error('the payment method has no owner');
  return methodDefaultSlot(owner);
};

/**
 * The id of the owner's default method. If the pointer names a missing method, the newest remaining method becomes the
 * default.
 * @param known ids of methods that exist
 */
export const findDefaultMethod = async (
  table: Table,
  slot: DefaultSlot,
  known: ReadonlySet<string>,
): Promise<string | undefined> => {
  const id = await readDefault(table, slot);
  if (id === undefined || known.has(id)) return id;
  const item = await table.get(paymentMethodRecord.key(id));
  return item && paymentMethodRecord.parse(item) ? id : promoteNewest(table, slot, { id });
};

export const isDefaultMethod = async (table: Table, method: PaymentMethod): Promise<boolean> =>
  (await readDefault(table, methodDefaultSlotOf(method))) === method.id;
