/** @module The HTTP endpoint that checks a discount code. The codes themselves are reference records of `/admin/{kind}`. */

import * as z from 'zod';
import { productRecord } from '../../shared/catalog/catalog-records.ts';
import { checkDiscountBody, discountCheckSchema } from '../../shared/discounts/check-discount.ts';
import { discountChecks } from '../../shared/discounts/check-limits.ts';
import { codeKeysOf } from '../../shared/discounts/redemption.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { paymentLinkRecord } from '../../shared/payment-links/payment-link.ts';

const none = z.object({});

export const checkDiscountEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'discounts.check',
  method: 'POST',
  path: '/discounts/check',
  summary: 'Check a discount code',
  description: `Shows whether a code can be used for a purchase, and the resulting price. Nothing is reserved, so the
    create request may still get \`DISCOUNT_INVALID\`. The token of a payment link in \`X-Link-Token\` replaces a
    session or \`guest_data\`. At most 20 checks
    per minute; a create request with an unusable code counts as a check.`,
  auth: 'session-or-guest',
  access: {
    action: 'canManagePayments',
    organization: 'session by default',
    references: ({ product_id: id }) => (id ? [{ kind: productRecord, id }] : []),
    alongside: (owner, { code }) => codeKeysOf(owner, code),
  },
  opens: { payment_link: paymentLinkRecord },
  params: none,
  query: none,
  body: checkDiscountBody,
  response: discountCheckSchema,
  status: 200,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PRICING_MISMATCH',
    'UNSUPPORTED_CURRENCY',
    'QUANTITY_INVALID',
    'PRODUCT_INACTIVE',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'RATE_LIMITED',
  ],
  limits: [discountChecks],
  uses: ['table:read', 'secrets:guest-tokens', 'secrets:ids'],
}));

export const discountEndpoints = [checkDiscountEndpoint];
