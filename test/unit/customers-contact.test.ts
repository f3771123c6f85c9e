/**
 * @module Stripe and Square may refuse contact details that their documents allow, such as an unassigned phone number.
 * A creation then leaves out the refused details. An update reports a refused phone number or name, and removes a
 * refused e-mail address.
 */
import { describe, expect, test } from 'vitest';
import { runAs } from '../../shared/core/actor.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { iso } from '../../shared/core/time.ts';
import { createProviderCustomer } from '../../shared/customers/create-customer.ts';
import { type Customer, customerShape } from '../../shared/customers/customer.ts';
import { updateCustomer } from '../../shared/customers/update-customer.ts';
import type { ApiRequest } from '../../shared/http/request.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import type { ProviderRecordDeps } from '../../shared/providers/provider-deps.ts';
import { openSquare } from '../../shared/providers/square/square.ts';
import { openStripe } from '../../shared/providers/stripe/stripe.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const { slots } = parseSettings({
  PROVIDER_A: 'stripe',
  PROVIDER_A_API_KEY: 'sk_test_x',
  PROVIDER_C: 'square',
  PROVIDER_C_ACCESS_TOKEN: 'token',
  PROVIDER_C_LOCATION_ID: 'L1',
});

const SUBJECTS = {
  Stripe: {
    open: openStripe,
    slot: 'provider_a',
    refusal: (field: string) => ({ error: { type: 'invalid_request_error', message: 'no', param: field } }),
    done: { id: 'cus_1' },
    names: { email: 'email', phone: 'phone', name: 'name' },
  },
  Square: {
    open: openSquare,
    slot: 'provider_c',
    refusal: (field: string) => ({ errors: [{ category: 'INVALID_REQUEST_ERROR', code: 'INVALID_VALUE', field }] }),
    done: { customer: { id: 'cus_1' } },
    names: { email: 'email_address', phone: 'phone_number', name: 'given_name' },
  },
} as const;
type Name = keyof typeof SUBJECTS;
type Field = 'email' | 'phone' | 'name';

/** The adapter of a provider that refuses every call with any of these fields. */
const refusing = (subject: Name, fields: readonly Field[]) => {
  const { open, slot, refusal, done, names } = SUBJECTS[subject];
  const bodies: string[] = [];
  const provider = open({
    slot,
    settings: slots[slot],
    timeoutMs: 1_000,
    log: logLines().log,
    fetch: async (_, init) => {
      const body = decodeURIComponent(String(init?.body));
      bodies.push(body);
      const named = (field: Field) => new RegExp(`\\b${names[field]}("?:"|=)[^&"]`).test(body);
      const refused = fields.find(named);
      return refused ? Response.json(refusal(names[refused]), { status: 400 }) : Response.json(done, { status: 200 });
    },
  });
  if (!provider) throw new Error('the slot is closed');
  return { provider, bodies };
};

const customer: Customer = {
  id: 'cust_00000000000000000000000a',
  version: 1,
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  providerId: 'provider_a',
  providerCustomerId: 'cus_1',
  email: 'ada@example.com',
  name: 'Ada',
  phone: '+15550100123',
  userId: 'user_1',
};

const update = async (provider: PaymentProvider, body: object) => {
  const { table } = memoryTable({ now: () => NOON });
  await table.put(recordItem(customerShape, customer));
  const deps = { table, now: () => NOON, providers: { require: async () => provider } };
  const request = { record: customer, body };
  return runAs({ requestId: 'r', actor: { type: 'user', id: 'user_1' } }, () =>
    updateCustomer(
      deps as unknown as ProviderRecordDeps,
      request as unknown as ApiRequest<unknown, unknown, never, Customer>,
    ),
  );
};

describe.each(Object.keys(SUBJECTS) as Name[])('%s', (subject) => {
  test('is called again to create a customer without the details that it refused', async () => {
    const { provider, bodies } = refusing(subject, ['phone', 'email']);
    const { providerCustomerId: _, ...draft } = customer;
    const made = await createProviderCustomer(provider, draft);
    expect(made).toMatchObject({ ...customer, providerCustomerId: 'cus_1' });
    expect(bodies).toHaveLength(3);
    expect(bodies.at(-1)).toContain('Ada');
    expect(bodies.at(-1)).not.toMatch(/0100123|example/);
  });

  test.each([
    ['phone', { phone: '+15550100124' }],
    ['name', { name: 'Grace' }],
  ] as const)('causes a 400 for the field if it refuses an update of the %s', async (field, body) => {
    const { provider } = refusing(subject, [field]);
    const refused = await update(provider, { ...body, email: 'ada@example.com' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: field }] });
    expect(JSON.stringify(refused)).not.toMatch(/Stripe\w*Error|provider_id/);
  });

  test('receives the other fields and an empty e-mail after it refused the e-mail', async () => {
    const { provider, bodies } = refusing(subject, ['email']);
    const answer = await update(provider, { email: 'new@example.com', name: 'Grace' });
    expect(answer).toMatchObject({ data: { email: 'new@example.com', name: 'Grace' } });
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toContain('Grace');
    expect(bodies[1]).toMatch(subject === 'Stripe' ? /(^|&)email=(&|$)/ : /"email_address":null/);
  });
});
