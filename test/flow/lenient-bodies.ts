/** @module The routes with optional body fields. requests-lenient.long.test.ts sends a request to each. */

import { documentedEndpoints } from '../../functions/api/catalogue.ts';
import { optionalFieldsOf } from '../builders/optional-fields.ts';

export const LENIENT_IDS = [
  ...[
    'payments.create-intent',
    'payments.create',
    'payments.update-intent',
    'payments.confirm',
    'payments.capture',
    'payments.link',
    'payments.change-metadata',
  ],
  ...[
    'subscriptions.link',
    'subscriptions.create',
    'subscriptions.update',
    'subscriptions.cancel',
    'subscriptions.pause',
    'subscriptions.change',
    'subscriptions.preview-change',
  ],
  ...['pay.start', 'pay.confirm', 'pay.method', 'pay.cancel'],
  ...['payment-links.create', 'payment-links.update'],
  ...['discounts.check'],
  ...['refunds.create'],
  ...['payment-methods.create', 'payment-methods.update'],
  ...['customers.create', 'customers.update'],
  ...['addresses.create', 'addresses.update'],
  ...['organizations.create', 'organizations.update', 'organizations.add-member'],
  ...['webhooks.send-test'],
  ...['admin.request-erasure', 'admin.import', 'admin.create-key', 'admin.update-key', 'admin.rotate-key'],
] as const;
export type LenientId = (typeof LENIENT_IDS)[number];

export const isLenient = (id: string): id is LenientId => LENIENT_IDS.some((one) => one === id);

export const LENIENT_BODIES = documentedEndpoints.flatMap(({ id, method, body, bodyForm }) => {
  const fields = body && bodyForm === 'json' ? optionalFieldsOf(body) : [];
  return fields.length > 0 ? [{ id, method, fields }] : [];
});
