/** @module The bodies, storage and views of each kind of reference record. Each write replaces the whole record. */

import * as z from 'zod';
import type { NamedRecord } from '../access/record-kind.ts';
import { boundedText, emailSchema, metadataSchema, timeField } from '../http/fields.ts';
import { discountCountKey, type Key, type ReferenceKind } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import {
  cents,
  inviteFields,
  inviteSchema,
  MAX_QUANTITY,
  productFields,
  productSchema,
  projectFields,
  projectRecord,
  projectSchema,
  tierFields,
  tierSchema,
} from './catalog-records.ts';
import { inviteView, productView, wholeProjectView, wholeTierView } from './catalog-view.ts';
import {
  canonicalCode,
  discountCountOf,
  discountFields,
  discountRecordSchema,
  discountRecordView,
  isDiscountCode,
} from './discount.ts';

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

const currency = boundedText(10)
  .trim()
  .toUpperCase()
  .refine((code) => CURRENCIES.has(code), {
    message: 'must be an ISO 4217 code such as USD',
    params: { rule: 'iso_4217' },
  });

const metadata = metadataSchema.default({});

const productMetadata = metadata.refine(
  ({ membership_type_id: tier }) => tier === undefined || (typeof tier === 'string' && tier !== ''),
  { path: ['membership_type_id'], message: 'must be the id of a tier', params: { rule: 'invalid_type' } },
);

/** The body of a product. An absent subtotal is computed from the other amounts. */
const productBody = z
  .object({ ...productFields(), currency, metadata: productMetadata, subtotal_cents: cents.optional() })
  .transform((body) => ({
    ...body,
    subtotal_cents: body.subtotal_cents ?? body.total_cents - body.tax_cents + body.discount_cents,
  }))
  .refine((body) => body.subtotal_cents + body.tax_cents - body.discount_cents === body.total_cents, {
    path: ['total_cents'],
    message: 'must be subtotal_cents + tax_cents - discount_cents',
    params: { rule: 'prices' },
  })
  .refine((body) => cents.safeParse(body.subtotal_cents).success, {
    path: ['subtotal_cents'],
    message: 'total_cents - tax_cents + discount_cents must be a valid amount',
    params: { rule: 'prices' },
  })
  .refine((body) => body.min_quantity <= (body.max_quantity ?? MAX_QUANTITY), {
    path: ['max_quantity'],
    message: 'must not be less than min_quantity',
    params: { rule: 'min' },
  });

const projectBody = z.object({ ...projectFields(), billing_email: emailSchema.nullish(), metadata });

const tierBody = z.object(tierFields());

const inviteBody = z.object({
  ...inviteFields(),
  email: emailSchema,
  expires_at: timeField().transform((time) => new Date(time).toISOString()),
});

const instantField = () => timeField().transform((time) => new Date(time).toISOString());

const upperCaseKeys = <T>(amounts: Readonly<Record<string, T>>) =>
  Object.fromEntries(Object.entries(amounts).map(([code, cents]) => [code.toUpperCase(), cents]));

const discountBody = z
  .object({
    ...discountFields(),
    starts_at: instantField().nullish(),
    ends_at: instantField().nullish(),
    metadata,
  })
  .transform((body) => ({ ...body, ...(body.amounts && { amounts: upperCaseKeys(body.amounts) }) }))
  .refine((body) => (body.percent_bp == null) !== (body.amounts == null), {
    path: ['percent_bp'],
    message: 'send either percent_bp or amounts',
    params: { rule: 'required' },
  })
  .refine(({ amounts }) => amounts == null || isCurrencyList(Object.keys(amounts)), {
    path: ['amounts'],
    message: 'must name at least one currency, by ISO 4217 codes such as USD',
    params: { rule: 'iso_4217' },
  })
  .refine((body) => (body.duration === 'repeating') === (body.duration_periods != null), {
    path: ['duration_periods'],
    message: 'is required with duration repeating, and not allowed otherwise',
    params: { rule: 'required' },
  })
  .refine(({ starts_at: starts, ends_at: ends }) => starts == null || ends == null || starts < ends, {
    path: ['ends_at'],
    message: 'must be after starts_at',
    params: { rule: 'min' },
  })
  .refine(({ product_ids: ids }) => ids == null || ids.length > 0, {
    path: ['product_ids'],
    message: 'must name a product; null is for every product',
    params: { rule: 'min' },
  });

const isCurrencyList = (codes: readonly string[]): boolean =>
  codes.length > 0 && codes.every((code) => CURRENCIES.has(code));

const REFERENCE_BODIES = {
  products: productBody,
  projects: projectBody,
  tiers: tierBody,
  invites: inviteBody,
  discounts: discountBody,
} as const satisfies Record<ReferenceKind, z.ZodType>;

export interface StoredReference {
  readonly id: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

interface CatalogKind {
  /** The record's name in errors. */
  readonly resource: string;
  readonly body: z.ZodType;
  parse(item: Item): StoredReference;
  /** @param counter the item stored at `counterKey` */
  view(item: Item, counter?: Item): unknown;
  /** Key of the item that counts the uses of the record. */
  counterKey?(id: string): Key;
  /** The rules of ids, for kinds with case-insensitive ids. */
  readonly ids?: { canonical(sent: string): string; isValid(id: string): boolean; readonly form: string };
  /** Fields for list filters, under short names. */
  listFields(item: Item): Readonly<Record<string, boolean>>;
}

export const REFERENCES: Readonly<Record<ReferenceKind, CatalogKind>> = {
  products: {
    resource: 'product',
    body: REFERENCE_BODIES.products,
    parse: (item) => productSchema.parse(item),
    view: (item) => productView(productSchema.parse(item)),
    listFields: (item) => ({ a: item['is_active'] === true }),
  },
  projects: {
    resource: 'project',
    body: REFERENCE_BODIES.projects,
    parse: (item) => projectSchema.parse(item),
    view: (item) => wholeProjectView(projectSchema.parse(item)),
    listFields: () => ({}),
  },
  tiers: {
    resource: 'tier',
    body: REFERENCE_BODIES.tiers,
    parse: (item) => tierSchema.parse(item),
    view: (item) => wholeTierView(tierSchema.parse(item)),
    listFields: (item) => ({ a: item['is_active'] === true }),
  },
  invites: {
    resource: 'invite',
    body: REFERENCE_BODIES.invites,
    parse: (item) => inviteSchema.parse(item),
    view: (item) => inviteView(inviteSchema.parse(item)),
    listFields: () => ({}),
  },
  discounts: {
    resource: 'discount',
    body: REFERENCE_BODIES.discounts,
    parse: (item) => discountRecordSchema.parse(item),
    view: (item, counter) => discountRecordView(discountRecordSchema.parse(item), discountCountOf(counter)),
    counterKey: discountCountKey,
    ids: { canonical: canonicalCode, isValid: isDiscountCode, form: 'must be 3 to 40 of A-Z, 0-9, - and _' },
    listFields: () => ({}),
  },
};

/** The project in the query of a list. */
export const projectNamed = (query: unknown): readonly NamedRecord[] => {
  const parsed = projectQuery.safeParse(query);
  return parsed.success ? [{ kind: projectRecord, id: parsed.data.project_id }] : [];
};

const projectQuery = z.looseObject({ project_id: z.string() });
