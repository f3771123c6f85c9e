/**
 * @module The records behind the demo payments: addresses, customers, payment methods, an organization with members,
 * and the catalog.
 */

import { ADMIN, type Demo, type DemoStep, MEMBER, OWNER } from './asking.ts';

const ORGANIZATION = 'org_demo';

interface Owned {
  readonly by: string;
  readonly [field: string]: unknown;
}

const creating =
  (path: string) =>
  (daysAgo: number, name: string, { by, ...body }: Owned): DemoStep => ({
    daysAgo,
    run: (demo) => demo.create(name, { path, by, body }),
  });
const address = creating('/addresses');
const customer = creating('/customers');
const method = creating('/payment-methods');

const organization = (name: string, title: string): DemoStep => ({
  daysAgo: 30.9,
  run: (demo) => demo.create(name, { path: '/organizations', by: OWNER, body: { name: title } }),
});

const record = (kind: string, id: string, body: object): DemoStep => ({
  daysAgo: 31,
  run: (demo) => demo.put({ path: `/admin/${kind}/${id}`, by: ADMIN, body }),
});

const OLIVIA = { email: 'demo.owner@example.com', name: 'Olivia Owner' };
const MILES = { email: 'demo.member@example.com', name: 'Miles Member' };
const BERLIN = { line1: 'Museum Street 6', city: 'Berlin', postal_code: '10117', country: 'DE' };

const joinOrganization = async (demo: Demo): Promise<void> => {
  await demo.post({
    path: `/organizations/${ORGANIZATION}/members`,
    by: OWNER,
    body: { email: 'demo.admin@example.com', role: 'billing' },
  });
  await demo.put({
    path: `/organizations/${ORGANIZATION}`,
    by: OWNER,
    body: { business_email: 'office@demo.example.com', tax_id: 'DE129273398', address: 'Museum Street 6, Berlin' },
  });
};

export const peopleSteps: readonly DemoStep[] = [
  record('tiers', 'demo-gold', {
    name: 'Gold',
    slug: 'demo-gold',
    description: 'All courses, and support within a day',
    rank: 2,
    entity_type: 'user',
    features: ['all-courses', 'priority-support'],
    product_ids: ['demo-gold-monthly'],
  }),
  record('products', 'demo-gold-monthly', {
    name: 'Gold, by the month',
    description: 'All courses',
    subtotal_cents: 2_400,
    tax_cents: 456,
    total_cents: 2_856,
    currency: 'EUR',
    billing_interval: 'monthly',
    metadata: { membership_type_id: 'demo-gold' },
  }),
  record('products', 'demo-course', {
    name: 'Course in watercolor',
    subtotal_cents: 12_000,
    tax_cents: 2_280,
    total_cents: 14_280,
    currency: 'EUR',
  }),
  record('projects', 'demo-garden', {
    name: 'Garden',
    slug: 'demo-garden',
    billing_email: 'garden@example.com',
    organization_id: ORGANIZATION,
  }),
  record('invites', 'demo-invite', {
    project_id: 'demo-garden',
    organization_id: ORGANIZATION,
    inviter_name: 'Olivia Owner',
    role: 'editor',
    email: 'gus@example.com',
    expires_at: '2199-01-01T00:00:00.000Z',
  }),
  { daysAgo: 31, run: joinOrganization },
  {
    daysAgo: 30.9,
    run: (demo) =>
      demo.create('organization-studio', {
        path: '/organizations',
        by: MEMBER,
        body: { name: 'Demo studio', business_email: 'studio@example.com' },
      }),
  },
  organization('organization-shop', 'Demo shop'),
  organization('organization-closing', 'Demo shop, closing'),
  {
    daysAgo: 30.8,
    run: (demo) =>
      demo.post({
        path: `/organizations/${demo.made('organization-studio').id}/members`,
        by: MEMBER,
        body: { email: OLIVIA.email, role: 'member' },
      }),
  },
  address(30.9, 'address-home', { by: OWNER, ...BERLIN, name: OLIVIA.name, alias: 'Home', is_default: true }),
  address(30.9, 'address-shipping', {
    by: OWNER,
    ...{ ...BERLIN, line1: 'Museum Street 4', type: 'shipping', name: OLIVIA.name, alias: 'Workshop' },
  }),
  address(30.9, 'address-partial', { by: MEMBER, country: 'US', postal_code: '94103', is_partial: true }),
  address(30.9, 'address-office', {
    by: OWNER,
    ...{ ...BERLIN, organization_id: ORGANIZATION, is_business: true, business_name: 'Demo organization' },
    ...{ tax_id: 'DE129273398', tax_id_type: 'vat' },
  }),
  customer(30.8, 'customer-owner-a', { by: OWNER, provider_id: 'provider_a', ...OLIVIA, phone: '+49 30 901820' }),
  customer(30.8, 'customer-owner-b', { by: OWNER, provider_id: 'provider_b', ...OLIVIA }),
  customer(30.8, 'customer-owner-c', { by: OWNER, provider_id: 'provider_c', ...OLIVIA }),
  customer(30.8, 'customer-owner-d', { by: OWNER, provider_id: 'provider_d', ...OLIVIA }),
  customer(30.8, 'customer-member-a', { by: MEMBER, provider_id: 'provider_a', ...MILES }),
  customer(30.8, 'customer-member-c', { by: MEMBER, provider_id: 'provider_c', ...MILES }),
  customer(30.8, 'customer-organization', {
    by: OWNER,
    provider_id: 'provider_a',
    email: 'office@demo.example.com',
    name: 'Demo organization',
    organization_id: ORGANIZATION,
  }),
  method(30.7, 'card-owner-visa', {
    by: OWNER,
    provider_id: 'provider_a',
    provider_payment_method_token: 'pm_card_visa',
    alias: 'Visa, blue',
    is_default: true,
  }),
  method(30.7, 'card-owner-mastercard', {
    by: OWNER,
    provider_id: 'provider_a',
    provider_payment_method_token: 'pm_card_mastercard',
    alias: 'Mastercard, travel',
  }),
  method(30.7, 'paypal-owner', { by: OWNER, provider_id: 'provider_b', provider_payment_method_token: 'SIM-OK' }),
  method(30.7, 'card-owner-square', {
    by: OWNER,
    provider_id: 'provider_c',
    provider_payment_method_token: 'cnon:card-nonce-ok',
    alias: 'Card at the till',
  }),
  method(30.7, 'card-member-declining', {
    by: MEMBER,
    provider_id: 'provider_c',
    provider_payment_method_token: 'cnon:sim-ok-1-then-decline',
  }),
  method(30.7, 'card-member-visa', {
    by: MEMBER,
    provider_id: 'provider_a',
    provider_payment_method_token: 'pm_card_visa',
  }),
  method(30.7, 'card-organization', {
    by: OWNER,
    provider_id: 'provider_a',
    provider_payment_method_token: 'pm_card_visa',
    alias: 'Company card',
    organization_id: ORGANIZATION,
  }),
  {
    daysAgo: 30.6,
    run: (demo) =>
      demo.post({
        path: `/addresses/${demo.made('address-home').id}/set-default`,
        by: OWNER,
        body: {},
      }),
  },
  {
    daysAgo: 20.5,
    run: (demo) =>
      demo.create('erasure-guest', {
        path: '/admin/erasures',
        by: ADMIN,
        body: { email: 'former.guest@example.com' },
      }),
  },
];
