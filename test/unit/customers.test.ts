import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { type Customer, customerShape, customerView } from '../../shared/customers/customer.ts';
import { customerEvents } from '../../shared/customers/customer-events.ts';
import {
  createCustomerBody,
  listCustomersQuery,
  updateCustomerBody,
} from '../../shared/customers/customer-requests.ts';
import { isStale } from '../../shared/platform/owned-record.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { NOON } from '../builders/payment.ts';

/** A user's customer at provider_a. A test passes only the relevant fields. */
const customer = (fields: Partial<Customer> = {}): Customer => ({
  id: 'cust_00000000000000000000000a',
  version: 1,
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  providerId: 'provider_a',
  providerCustomerId: 'cus_1',
  email: 'ada@example.com',
  userId: 'user_1',
  ...fields,
});

describe('the events of a customer', () => {
  test('are one per version of the record, including the first', () => {
    const [made, changed] = [customer(), customer({ version: 2, name: 'Ada' })];
    const typesOf = (before: Customer | undefined, after: Customer) =>
      customerEvents(before, after).map(({ type }) => type);
    expect(typesOf(undefined, made)).toEqual(['customer.created']);
    expect(typesOf(made, changed)).toEqual(['customer.updated']);
    expect(typesOf(made, { ...made, knownAt: 7 })).toEqual([]);
  });

  test('have an id that is derived from the record, the version and the event’s name', () => {
    const [once, again] = [customerEvents(undefined, customer()), customerEvents(undefined, customer())];
    expect(once).toEqual(again);
    const ids = [once, customerEvents(customer(), customer({ version: 2 }))].map(([event]) => event?.id);
    expect(new Set(ids).size).toBe(2);
  });

  test.each([
    [
      {},
      {
        is_guest: false,
        user: { id: 'user_1', type: 'authenticated', email: 'ada@example.com' },
        project: null,
        organization_id: null,
      },
    ],
    [
      { userId: undefined, guestId: 'gst_1', guestEmail: 'g@example.com', projectId: 'proj_1' },
      { is_guest: true, user: { id: 'gst_1', type: 'guest', email: 'g@example.com' }, project: { id: 'proj_1' } },
    ],
    [
      { userId: undefined, organizationId: 'org_1' },
      { is_guest: false, user: null, organization_id: 'org_1' },
    ],
  ])('show the owner and the project of a customer with the fields %j', (fields, data) => {
    const [event] = customerEvents(undefined, customer(fields));
    expect(event).toMatchObject({
      source: 'payments',
      type: 'customer.created',
      detail: {
        organization_id: customer(fields).organizationId ?? null,
        user_id: customer(fields).userId ?? null,
        payload: {
          event: 'customer.created',
          provider: 'provider_a',
          timestamp: iso(NOON),
          data: {
            customer_id: customer().id,
            provider_customer_id: 'cus_1',
            email: 'ada@example.com',
            name: null,
            ...data,
          },
        },
      },
    });
  });
});

describe('a provider’s event about a customer', () => {
  const second = Math.floor(NOON / 1_000);

  test('is stale if it is older than the record or than the last known event', () => {
    const record = customer();
    expect([-1, 0, 1].map((later) => isStale(record, { createdAt: second + later }))).toEqual([true, false, false]);
    const known = customer({ knownAt: second + 60 });
    expect([59, 60, 61].map((later) => isStale(known, { createdAt: second + later }))).toEqual([true, false, false]);
  });

  test('never overrides a newer event, in any order of arrival', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5, 6], { minLength: 1 }), (order) => {
        let record = customer();
        for (const later of order) {
          if (!isStale(record, { createdAt: second + later })) record = customer({ knownAt: second + later });
        }
        expect(record.knownAt).toBe(second + Math.max(...order));
      }),
    );
  });
});

describe('a request about customers', () => {
  test('keeps known fields and drops the rest', () => {
    const body = {
      provider_id: 'provider_d',
      email: ' ADA@Example.com ',
      user_id: 'x',
      id: 'x',
      provider_customer_id: 'x',
    };
    expect(createCustomerBody.parse(body)).toEqual({ provider_id: 'provider_d', email: 'ada@example.com' });
    expect(updateCustomerBody.parse(body)).toEqual({ email: 'ada@example.com' });
  });

  test.each([
    [{}, { limit: 100, offset: 0 }],
    [
      { limit: '7', offset: '14' },
      { limit: 7, offset: 14 },
    ],
    [{ limit: '101' }, { limit: 100, offset: 0 }],
  ])('reads the list parameters %j as %j', (query, page) => {
    expect(listCustomersQuery.parse(query)).toEqual(page);
  });
});

test('a customer record is stored with its list keys, and shown without internal fields', () => {
  const record = customer({
    guestId: 'gst_1',
    guestEmail: 'g@example.com',
    userId: undefined,
    knownAt: 5,
    requestHash: 'h',
  });
  const item = recordItem(customerShape, record);
  expect(item).toMatchObject({ pk: `CUS#${record.id}`, sk: 'CUS', f: { p: 'provider_a', g: 'gst_1' } });
  expect(item['owner']).toMatch(/^GUEST#[0-9a-f]{32}#CUS$/);
  expect(customerShape.parse(item)).toEqual(record);
  expect(customerShape.parse({ ...item, tombstone: true })).toBeUndefined();
  expect(Object.keys(customerView(record))).not.toEqual(expect.arrayContaining(['guest_id', 'known_at', 'version']));
  expect(JSON.stringify(customerView(record))).not.toContain('gst_1');
});
