/** @module Checks the statuses of docs/mirror.md and the fields of mirror-fields.ts against the adapters and the providers' published types. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { declaredFields, declaredTexts, documentedWords } from './declared-types.ts';
import { MIRRORED_FIELDS, type ObjectFields } from './mirror-fields.ts';
import { fieldsReadBy, reportedStatuses } from './mirror-readers.ts';
import { type OpenApi, parseOpenApi, schemaPartsOf } from './openapi-check.ts';
import { RECORDED_SDKS } from './recorded-sdks.ts';
import { contractsFolder } from './vendor-files.ts';

const OBJECTS = Object.entries(MIRRORED_FIELDS);

const fieldsIn = (key: string): ObjectFields => {
  const found = MIRRORED_FIELDS[key];
  if (!found) throw new Error(`no fields of ${key}`);
  return found;
};

const split = (names = ''): string[] => names.split(/\s+/).filter(Boolean);

/** The top-level fields of an object, without repeats. */
const fieldsOf = ({ read, ignored }: ObjectFields): string[] => [
  ...new Set([...split(read), ...split(ignored)].map(topOf)),
];
const topOf = (path: string): string => /^\w+/.exec(path)?.[0] ?? path;

/** Our statuses in docs/mirror.md per provider value, by object and field (`Stripe: Refund.status`). */
const PAGE = ((): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> => {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs/mirror.md'), 'utf8');
  const named = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  const pages = new Map<string, Map<string, readonly string[]>>();
  let vendor = '';
  for (const line of text.split('\n')) {
    vendor = /^### (\w+)$/.exec(line)?.[1] ?? vendor;
    const [, field, values = '', cell = ''] = /^\| `(\w+\.[\w.]+)` \| (.+?) \| (.+) \|$/.exec(line) ?? [];
    if (field === undefined) continue;
    const key = `${vendor}: ${field}`;
    const [statuses = ''] = cell.split(': ');
    const rows = pages.get(key) ?? new Map<string, readonly string[]>();
    for (const value of named(values)) {
      if (rows.has(value)) throw new Error(`docs/mirror.md has two rows for ${key} ${value}`);
      rows.set(value, statuses === 'the same' ? [value.toLowerCase()] : named(statuses));
    }
    pages.set(key, rows);
  }
  return pages;
})();

const statusesOf = (key: string, field: string): string[] => [...(PAGE.get(`${key}.${field}`)?.keys() ?? [])];

/** The status fields of the object. */
const statusFieldsOf = (key: string): string[] =>
  [...PAGE.keys()].filter((name) => name.startsWith(`${key}.`)).map((name) => name.slice(key.length + 1));

/** The difference between two lists of names; empty if they are equal. */
const difference = (table: readonly string[], theirs: readonly string[]) => ({
  unnamed: theirs.filter((name) => !table.includes(name)).sort(),
  unknown: table.filter((name) => !theirs.includes(name)).sort(),
});
const NONE = { unnamed: [], unknown: [] };

const MODULES = resolve(import.meta.dirname, '../../node_modules');
const stripe = (file: string): string => resolve(MODULES, 'stripe/esm/resources', `${file}.d.ts`);
const onTheWire = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
interface Published {
  readonly fields: () => readonly string[];
  /** The published values of each status field, by the field's name. */
  readonly statuses?: Readonly<Record<string, () => readonly string[]>>;
}

const ofStripe = (file: string, name: string, hasStatus = false): Published => ({
  fields: () => declaredFields(stripe(file), name),
  ...(hasStatus && { statuses: { status: () => declaredTexts(stripe(file), `${name}.Status`) } }),
});

const ofRecordedSdk = (vendor: keyof typeof RECORDED_SDKS): Readonly<Record<string, Published>> =>
  Object.fromEntries(
    Object.entries(RECORDED_SDKS[vendor].types).map(([name, { fields, statuses }]) => [
      `${vendor}: ${name}`,
      {
        fields: () => fields,
        ...(Object.keys(statuses).length > 0 && {
          statuses: Object.fromEntries(Object.entries(statuses).map(([field, values]) => [field, () => values])),
        }),
      },
    ]),
  );

/**
 * The fields and statuses that the SDKs declare. PayPal's dispute is missing, because PayPal's SDK has no dispute type.
 */
const PUBLISHED: Readonly<Record<string, Published>> = {
  'Stripe: PaymentIntent': ofStripe('PaymentIntents', 'PaymentIntent', true),
  'Stripe: Charge': ofStripe('Charges', 'Charge'),
  'Stripe: Refund': {
    ...ofStripe('Refunds', 'Refund'),
    statuses: { status: () => documentedWords(stripe('Refunds'), 'Refund.status', /`([a-z_]+)`/g) },
  },
  'Stripe: Dispute': ofStripe('Disputes', 'Dispute', true),
  'Stripe: Subscription': ofStripe('Subscriptions', 'Subscription', true),
  'Stripe: Invoice': ofStripe('Invoices', 'Invoice', true),
  'Stripe: Customer': ofStripe('Customers', 'Customer'),
  'Stripe: PaymentMethod': ofStripe('PaymentMethods', 'PaymentMethod'),
  ...ofRecordedSdk('PayPal'),
  ...ofRecordedSdk('Square'),
};

describe('a mirrored object', () => {
  test.each(Object.entries(PUBLISHED))(
    '%s has exactly the fields declared by the SDK, each read or ignored',
    (key, { fields }) => {
      const known = fieldsIn(key);
      const named = fieldsOf(known).filter((field) => !split(known.elsewhere).includes(field));
      expect(fields().length).toBeGreaterThan(3);
      expect(difference(named, fields())).toEqual(NONE);
    },
  );

  test.each(Object.entries(PUBLISHED))(
    '%s has exactly one row in docs/mirror.md per status of the SDK',
    (key, { statuses = {} }) => {
      expect(statusFieldsOf(key)).toEqual(Object.keys(statuses));
      for (const [field, values] of Object.entries(statuses)) {
        expect(difference(statusesOf(key, field), values())).toEqual(NONE);
      }
    },
  );

  test('has a published type, except PayPal’s dispute', () => {
    expect(OBJECTS.map(([key]) => key).filter((key) => !(key in PUBLISHED))).toEqual(['PayPal: Dispute']);
  });

  test.each(OBJECTS)('%s lists each field once, and each field `elsewhere` as read or ignored', (_key, known) => {
    const names = [...split(known.read), ...split(known.ignored)];
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    const used = split(known.read).map(topOf);
    expect(split(known.ignored).filter((name) => used.includes(name))).toEqual([]);
    expect(split(known.elsewhere).filter((name) => !fieldsOf(known).includes(name))).toEqual([]);
  });

  test.each(OBJECTS)('%s has exactly the fields that the adapter reads', async (key, { read }) => {
    expect(difference(split(read), await fieldsReadBy(key))).toEqual(NONE);
  });

  test.each([...PAGE])('the statuses of %s in docs/mirror.md equal the adapter’s', async (key, rows) => {
    for (const [value, statuses] of rows) {
      expect([value, [...(await reportedStatuses(key, value))].sort()]).toEqual([value, [...statuses].sort()]);
    }
  });
});

/** The published file and schema of each object. */
const DESCRIBED: Readonly<Record<string, readonly [file: string, schema: string]>> = {
  'Stripe: PaymentIntent': ['stripe/spec3.2026-10-28.json', 'payment_intent'],
  'Stripe: Charge': ['stripe/spec3.2026-10-28.json', 'charge'],
  'Stripe: Refund': ['stripe/spec3.2026-10-28.json', 'refund'],
  'Stripe: Dispute': ['stripe/spec3.2026-10-28.json', 'dispute'],
  'Stripe: Subscription': ['stripe/spec3.2026-10-28.json', 'subscription'],
  'Stripe: Invoice': ['stripe/spec3.2026-10-28.json', 'invoice'],
  'Stripe: Customer': ['stripe/spec3.2026-10-28.json', 'customer'],
  'Stripe: PaymentMethod': ['stripe/spec3.2026-10-28.json', 'payment_method'],
  'PayPal: Order': ['paypal/checkout_orders_v2.json', 'order'],
  'PayPal: Authorization': ['paypal/payments_payment_v2.json', 'authorization-2'],
  'PayPal: Capture': ['paypal/payments_payment_v2.json', 'capture-2'],
  'PayPal: Refund': ['paypal/payments_payment_v2.json', 'refund'],
  'PayPal: Payment token': ['paypal/vault_payment_tokens_v3.json', 'payment_token_response'],
  'Square: Order': ['square/api.json', 'Order'],
  'Square: Payment': ['square/api.json', 'Payment'],
  'Square: PaymentRefund': ['square/api.json', 'PaymentRefund'],
  'Square: Dispute': ['square/api.json', 'Dispute'],
  'Square: Customer': ['square/api.json', 'Customer'],
  'Square: Card': ['square/api.json', 'Card'],
};

const EXAMPLES = 'stripe/fixtures3.head.json';
const exampleSchema = z.object({ resources: z.record(z.string(), z.record(z.string(), z.unknown())) });

describe.runIf(contractsFolder !== undefined)('a mirrored object in the providers’ published files', () => {
  const read = (file: string): string => readFileSync(resolve(contractsFolder ?? '', file), 'utf8');
  const opened = new Map<string, OpenApi>();
  const open = (file: string): OpenApi => {
    const api = opened.get(file) ?? parseOpenApi(read(file));
    opened.set(file, api);
    return api;
  };

  test.each(Object.entries(DESCRIBED))('%s has every field and status of the published file', (key, [file, name]) => {
    const api = open(file);
    const properties = Object.assign(
      {},
      ...schemaPartsOf(api, api.components.schemas[name]).map((part) => part.properties),
    );
    expect(Object.keys(properties).length).toBeGreaterThan(3);
    expect(difference(fieldsOf(fieldsIn(key)), Object.keys(properties)).unnamed).toEqual([]);
    for (const field of statusFieldsOf(key)) {
      const values = schemaPartsOf(api, properties[field]).flatMap((part) => part.enum ?? []);
      expect(difference(statusesOf(key, field), values.map(String)).unnamed).toEqual([]);
    }
  });

  test('has every field of Stripe’s newest examples', () => {
    const { resources } = exampleSchema.parse(JSON.parse(read(EXAMPLES)));
    for (const [key, known] of OBJECTS.filter(([name]) => name.startsWith('Stripe: '))) {
      const example = resources[onTheWire(key.slice('Stripe: '.length)).slice(1)];
      expect(difference(fieldsOf(known), Object.keys(example ?? {})).unnamed).toEqual([]);
      expect(example).toBeDefined();
    }
  });
});

describe('the comparison with a published type', () => {
  test('reports unlisted fields and unpublished fields', () => {
    const published = PUBLISHED['Stripe: Refund']?.fields() ?? [];
    const named = fieldsOf(fieldsIn('Stripe: Refund'));
    expect(difference(named, [...published, 'added_by_stripe']).unnamed).toEqual(['added_by_stripe']);
    expect(difference([...named, 'made_up'], published).unknown).toEqual(['made_up']);
  });
});
