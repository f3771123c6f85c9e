/** @module Checks the tables of docs/mirror.md against the providers' published types, the adapters and our own API. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { apiDocumentAt } from '../../functions/api/document.ts';
import { type MirroredObject, splitNames, topOf } from '../../infra/make/docs/mirror/mirrored-object.ts';
import { PAYPAL_OBJECTS } from '../../infra/make/docs/mirror/paypal.ts';
import { SQUARE_OBJECTS } from '../../infra/make/docs/mirror/square.ts';
import { STRIPE_OBJECTS } from '../../infra/make/docs/mirror/stripe.ts';
import { declaredFields, declaredTexts, documentedWords } from './declared-types.ts';
import { fieldsReadBy, reportedStatuses } from './mirror-readers.ts';
import { type OpenApi, parseOpenApi, schemaPartsOf } from './openapi-check.ts';
import { RECORDED_SDKS } from './recorded-sdks.ts';
import { contractsFolder } from './vendor-files.ts';

const OBJECTS = Object.entries({ Stripe: STRIPE_OBJECTS, PayPal: PAYPAL_OBJECTS, Square: SQUARE_OBJECTS }).flatMap(
  ([vendor, objects]) => objects.map((object) => [`${vendor}: ${object.name}`, object] as const),
);

const tableOf = (key: string): MirroredObject => {
  const found = OBJECTS.find(([name]) => name === key)?.[1];
  if (!found) throw new Error(`no table for ${key}`);
  return found;
};

const grouped = (names: Readonly<Record<string, string>> = {}): string[] => Object.values(names).flatMap(splitNames);

const usedPaths = ({ mirrored, checked = {}, read }: MirroredObject): string[] => [
  ...Object.keys(mirrored),
  ...Object.keys(checked),
  ...grouped(read),
];

const fieldsOf = (object: MirroredObject): string[] => [
  ...new Set([...usedPaths(object), ...grouped(object.ignored)].map(topOf)),
];

const statusesOf = ({ statuses = {} }: MirroredObject, field: string): string[] => Object.keys(statuses[field] ?? {});

/** The difference between two lists of names; empty if they have the same names. */
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
  /** By the field that holds the status. */
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

/** PayPal's SDK has no disputes. */
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

describe('the table of a mirrored object', () => {
  test.each(Object.entries(PUBLISHED))(
    '%s lists every field that the SDK declares, and no other',
    (key, { fields }) => {
      const table = tableOf(key);
      const named = fieldsOf(table).filter((field) => !grouped(table.elsewhere).includes(field));
      expect(fields().length).toBeGreaterThan(3);
      expect(difference(named, fields())).toEqual(NONE);
    },
  );

  test.each(Object.entries(PUBLISHED))(
    '%s lists every status that the SDK declares, and no other',
    (key, { statuses = {} }) => {
      const table = tableOf(key);
      expect(Object.keys(table.statuses ?? {})).toEqual(Object.keys(statuses));
      for (const [field, values] of Object.entries(statuses)) {
        expect(difference(statusesOf(table, field), values())).toEqual(NONE);
      }
    },
  );

  test('has a published type for every object except PayPal’s disputes', () => {
    expect(OBJECTS.map(([key]) => key).filter((key) => !(key in PUBLISHED))).toEqual(['PayPal: Dispute']);
  });

  test.each(OBJECTS)('%s lists each field once, and marks only listed fields as available elsewhere', (_key, table) => {
    const names = [...usedPaths(table), ...grouped(table.ignored)];
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    const used = usedPaths(table).map(topOf);
    expect(grouped(table.ignored).filter((name) => used.includes(name))).toEqual([]);
    expect(grouped(table.elsewhere).filter((name) => !fieldsOf(table).includes(name))).toEqual([]);
  });

  test.each(OBJECTS)('%s maps only to fields that the API document has', (_key, { mirrored, checked = {} }) => {
    const ours = [...Object.values(mirrored).flat(), ...Object.values(checked)].filter((field) => /^[a-z]/.test(field));
    expect(ours.filter((field) => !SHOWN.has(field))).toEqual([]);
  });

  test.each(OBJECTS)('%s maps exactly the fields that the adapter reads', async (key, table) => {
    expect(difference(usedPaths(table), await fieldsReadBy(key))).toEqual(NONE);
  });

  test.each(OBJECTS)('%s gives each status the same meaning as the adapter', async (key, { statuses = {} }) => {
    for (const [field, values] of Object.entries(statuses)) {
      for (const [value, meaning] of Object.entries(values)) {
        const expected = typeof meaning === 'string' ? [meaning] : meaning.either;
        expect([value, [...(await reportedStatuses(key, field, value))].sort()]).toEqual([value, [...expected].sort()]);
      }
    }
  });
});

const SHOWN: ReadonlySet<string> = (() => {
  const document: unknown = JSON.parse(JSON.stringify(apiDocumentAt('https://api.example')));
  const schema = z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() });
  const { components } = z
    .looseObject({ components: z.looseObject({ schemas: z.record(z.string(), schema) }) })
    .parse(document);
  const records = ['Payment', 'Refund', 'Dispute', 'Subscription', 'Customer', 'PaymentMethod'];
  return new Set(
    records.flatMap((name) =>
      Object.keys(components.schemas[name]?.properties ?? {}).map(
        (field) => `${name.replace('PaymentMethod', 'Payment_method').toLowerCase()}.${field}`,
      ),
    ),
  );
})();

/** The file and the name of the schema. */
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

describe.runIf(contractsFolder !== undefined)('the tables and the providers’ published files', () => {
  const read = (file: string): string => readFileSync(resolve(contractsFolder ?? '', file), 'utf8');
  const opened = new Map<string, OpenApi>();
  const open = (file: string): OpenApi => {
    const api = opened.get(file) ?? parseOpenApi(read(file));
    opened.set(file, api);
    return api;
  };

  test.each(Object.entries(DESCRIBED))('%s lists every field and status of the published file', (key, [file, name]) => {
    const api = open(file);
    const properties = Object.assign(
      {},
      ...schemaPartsOf(api, api.components.schemas[name]).map((part) => part.properties),
    );
    const table = tableOf(key);
    expect(Object.keys(properties).length).toBeGreaterThan(3);
    expect(difference(fieldsOf(table), Object.keys(properties)).unnamed).toEqual([]);
    for (const field of Object.keys(table.statuses ?? {})) {
      const values = schemaPartsOf(api, properties[field]).flatMap((part) => part.enum ?? []);
      expect(difference(statusesOf(table, field), values.map(String)).unnamed).toEqual([]);
    }
  });

  test('the tables for Stripe list every field of the newest examples', () => {
    const { resources } = exampleSchema.parse(JSON.parse(read(EXAMPLES)));
    for (const table of STRIPE_OBJECTS) {
      const example = resources[onTheWire(table.name).slice(1)];
      expect(difference(fieldsOf(table), Object.keys(example ?? {})).unnamed).toEqual([]);
      expect(example).toBeDefined();
    }
  });
});

describe('the comparison of a table with a published type', () => {
  test('reports a field that the table lacks, and a field that only the table has', () => {
    const published = PUBLISHED['Stripe: Refund']?.fields() ?? [];
    const named = fieldsOf(tableOf('Stripe: Refund'));
    expect(difference(named, [...published, 'added_by_stripe']).unnamed).toEqual(['added_by_stripe']);
    expect(difference([...named, 'made_up'], published).unknown).toEqual(['made_up']);
  });
});
