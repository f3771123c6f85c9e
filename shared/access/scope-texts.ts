import type { Scope } from './scopes.ts';

/**
 * The text of each scope, for the routes page and the console. The texts are in their own module, so most functions do
 * not load them.
 */
export const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  'payments:read': 'Read payments, refunds, disputes, timelines and summaries of every owner.',
  'subscriptions:read': 'Read subscriptions, their timelines and memberships of every owner.',
  'customers:read': 'Read customers, payment methods, addresses and organizations of every owner.',
  'payments:write': 'Create, update, confirm and cancel payments for a payer.',
  'methods:write': 'Change payment methods, customers and addresses for a payer.',
  'subscriptions:write': 'Create and change subscriptions for a payer.',
  'organizations:write': 'Change organizations and their members for a payer.',
  'payments:operate': "Sync payments, cancel anyone's unconfirmed payment, and change the metadata of a final payment.",
  'payments:capture': 'Capture and release holds.',
  'refunds:write': 'Refund payments.',
  'links:write': 'Create payment links, and links to hosted pages for payments and subscriptions of every owner.',
  'subscriptions:operate': "Cancel anyone's subscription, and set a custom price.",
  'catalog:write': 'Read and change products, projects, tiers, invites and discount codes.',
  'webhooks:read': 'Read the webhook log of every owner.',
  'webhooks:write': 'Send logged events again, and send test events.',
  'admin:cache': 'Clear caches.',
  'imports:write': 'Import the customers and subscriptions of another integration.',
  'admin:erasures': 'Erase a person, read the state of an erasure, and export what is stored about a person.',
};
