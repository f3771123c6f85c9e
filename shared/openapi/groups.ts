/**
 * @module The groups of operations, in the order of an integrator's needs. The first part of an id selects the group.
 */

import { rowOf } from '../core/rows.ts';

const GROUPS = {
  payments: [
    'Payments',
    `A payment is one intent to collect an amount, and its outcome. Create it, let its payer confirm it in the browser or confirm
    it from your server, then follow it by webhook or by \`GET /payments/{id}\`.`,
  ],
  discounts: [
    'Discounts',
    `A discount code lowers the price of a payment or of the periods of a subscription. The merchant stores codes as
    reference records of the kind \`discounts\`; payers send a code in the create request.`,
  ],
  products: [
    'Products',
    'The products for sale. The merchant stores them as reference records of the kind `products`.',
  ],
  refunds: [
    'Refunds',
    `A refund returns the money of a succeeded payment, in whole or in part. Platform admins, and staff and service keys
    with the scope, make refunds for the merchant. Callers who may read the payment may read its refunds. Refunds made at the provider appear here too.`,
  ],
  disputes: [
    'Disputes',
    `A dispute is a payer's request for money back through their bank (a chargeback). The service records disputes; evidence is
    given at the provider.`,
  ],
  'payment-methods': [
    'Payment methods',
    `A payment method is a card or bank account that the provider keeps for later payments and subscriptions. The service stores
    its id at the provider, brand, last four digits and expiry, never the full number.`,
  ],
  customers: [
    'Customers',
    `A customer links a person or an organization to the customer record of one provider. A payment finds or creates its
    customer; a subscription request names the customer.`,
  ],
  addresses: ['Addresses', 'Billing and shipping addresses, with the tax id of a business.'],
  subscriptions: [
    'Subscriptions',
    `A subscription charges a saved payment method at the start of every period. Either the provider or the service bills it;
    both look the same here.`,
  ],
  pay: [
    'Hosted pages',
    `A hosted page takes one payment, or manages one subscription, without a session. The merchant makes a link to it. The
    link's token opens only that record; the page sends the token in \`X-Link-Token\`.`,
  ],
  'payment-links': [
    'Payment links',
    `A payment link sells one product or price to everyone who has its URL, optionally a limited number of times. Each
    start creates a separate payment, as a guest's create request does.`,
  ],
  memberships: [
    'Memberships',
    `A membership is a tier that a subscription buys for a user, an organization or a project. It lasts until the paid period ends.`,
  ],
  organizations: [
    'Organizations',
    `An organization owns payments, customers, methods, addresses and subscriptions that its members share. Members have roles:
    owner, admin, billing and member.`,
  ],
  projects: ['Projects', 'The public preview of an invite to a project.'],
  webhooks: [
    'Webhooks',
    `The log of received provider events and sent webhooks, replay and test events, and the routes that providers call.
    The webhooks section describes the events.`,
  ],
  admin: [
    'Administration',
    `For the merchant: search and sum up all payments, keep the reference records (products, projects, tiers, invites and discounts),
    erase a person, clear a cache, and manage the service keys of your backends.`,
  ],
  api: ['Service', 'The settings that a browser needs to take payments, the health of the service, and this document.'],
} as const satisfies Record<string, readonly [name: string, description: string]>;

export const groupOf = ({ id }: { readonly id: string }): string => {
  const group = rowOf(GROUPS, id.split('.')[0]);
  if (!group) throw new Error(`${id} belongs to no group: add a row to GROUPS`);
  return group[0];
};

/** The group of outbound events. */
export const WEBHOOKS_GROUP = GROUPS.webhooks[0];

export const groups: readonly { readonly name: string; readonly description: string }[] = Object.values(GROUPS).map(
  ([name, description]) => ({ name, description }),
);
