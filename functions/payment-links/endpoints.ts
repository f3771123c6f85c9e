/** @module The HTTP endpoints of payment links, for the merchant. */

import * as z from 'zod';
import {
  createPaymentLinkBody,
  listPaymentLinksQuery,
  paymentLinkParams,
  paymentLinkSchemaView,
  updatePaymentLinkBody,
} from '../../shared/hosted-pages/payment-link-requests.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { paymentLinkRecord } from '../../shared/payment-links/payment-link.ts';
import { cursorMeta } from '../../shared/queries/list-meta.ts';

const none = z.object({});

const OFF = 'If hosted pages are off (`HOSTED_PAGES`), the response is 404.';

const SOLD_ERRORS = [
  'VALIDATION_ERROR',
  'PRICING_MISMATCH',
  'AMOUNT_TOO_SMALL',
  'UNSUPPORTED_CURRENCY',
  'UNSUPPORTED_PROVIDER',
  'QUANTITY_INVALID',
  'PRODUCT_INACTIVE',
  'INSUFFICIENT_PERMISSIONS',
  'RESOURCE_NOT_FOUND',
] as const;

export const createPaymentLinkEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payment-links.create',
  method: 'POST',
  path: '/payment-links',
  summary: 'Create a payment link',
  description: `Creates a page that sells a product or a price to everyone who has its URL. Each start creates a guest
    payment with \`payment_link_id\`. If \`max_payments\` is set, an unpaid payment keeps its place for
    PLACE_HOLD_MINUTES, and is then canceled. ${OFF}`,
  auth: 'platform-admin',
  params: none,
  query: none,
  body: createPaymentLinkBody,
  response: paymentLinkSchemaView,
  status: 201,
  form: 'envelope',
  errors: [...SOLD_ERRORS, 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_REUSED'],
  idempotent: 'create',
  uses: ['table:read', 'table:put', 'secrets:guest-tokens', 'secrets:ids'],
}));

export const listPaymentLinksEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payment-links.list',
  method: 'GET',
  path: '/payment-links',
  summary: 'List payment links, newest first',
  description: `Lists all payment links, also expired and archived ones, with their counts. ${OFF}`,
  auth: 'platform-admin',
  params: none,
  query: listPaymentLinksQuery,
  body: null,
  response: () => z.array(paymentLinkSchemaView()),
  meta: () => cursorMeta,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

const one = {
  auth: 'platform-admin',
  access: { action: 'merchant', record: paymentLinkRecord },
  params: paymentLinkParams,
  query: none,
  form: 'envelope',
} as const;

export const getPaymentLinkEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...one,
  access: { action: 'read', record: paymentLinkRecord },
  id: 'payment-links.get',
  method: 'GET',
  path: '/payment-links/{id}',
  summary: 'Get a payment link',
  description: `Shows the link's product or price, its URL, and the numbers of open and succeeded payments. ${OFF}`,
  body: null,
  response: paymentLinkSchemaView,
  status: 200,
  errors: ['RESOURCE_NOT_FOUND'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const updatePaymentLinkEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...one,
  id: 'payment-links.update',
  method: 'PATCH',
  path: '/payment-links/{id}',
  summary: 'Change a payment link',
  description: `Changes the fields that are sent. Product, prices and quantity are fixed once a payment exists (409 \`INVALID_STATE\`); existing
    payments keep their values. ${OFF}`,
  body: updatePaymentLinkBody,
  sentBack: {
    moving: ['payments'],
    changedBy: { status: 'DELETE /payment-links/{id}' },
  },
  response: paymentLinkSchemaView,
  status: 200,
  errors: [...SOLD_ERRORS, 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
}));

export const archivePaymentLinkEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...one,
  id: 'payment-links.archive',
  method: 'DELETE',
  path: '/payment-links/{id}',
  summary: 'Archive a payment link',
  description: `Closes the page of the link. Payments that were started can still be paid, and the record stays. ${OFF}`,
  body: null,
  response: null,
  status: 204,
  errors: ['RESOURCE_NOT_FOUND', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
}));

export const paymentLinkEndpoints = [
  createPaymentLinkEndpoint,
  listPaymentLinksEndpoint,
  getPaymentLinkEndpoint,
  updatePaymentLinkEndpoint,
  archivePaymentLinkEndpoint,
];
