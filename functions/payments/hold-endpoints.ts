/** @module The HTTP endpoints that cancel a payment, capture its hold, or change the metadata of a final payment. */

import * as z from 'zod';
import { subjectOf } from '../../shared/access/caller.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { CHANGE_METADATA, changeMetadataBody } from '../../shared/payments/change-metadata.ts';
import { captureBody } from '../../shared/payments/holds/capture-request.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';
import { byPaymentId } from '../../shared/payments/payment-requests.ts';
import { paymentViewSchema } from '../../shared/payments/payment-view.ts';
import { PAYMENT_SENT_BACK } from '../../shared/queries/includes.ts';

const none = z.object({});

export const cancelIntentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.cancel-intent',
  method: 'POST',
  path: '/payments/intents/{id}/cancel',
  summary: 'Cancel an unconfirmed payment, or release a hold',
  description: `Cancels the payment at the provider, then here. It works on payments that are \`created\`, \`requires_payment_method\` or
    \`pending\`; a canceled payment returns 200 again. A succeeded payment can only be refunded, and a payment of a subscription ends with
    its subscription, so both get 409 \`INVALID_STATE\`.

    For the merchant it also releases a payment that is \`requires_capture\`; the payer gets 403, even as staff, as an
    admin or with their own service key (\`details.reason: own_payment\`). 202 with \`release_pending: true\` means
    that the provider has not responded; \`payment.released\` or \`payment.release_failed\` follows as an event. While a capture is under way: 409
    \`PAYMENT_IN_PROGRESS\`. A payer who confirms at Stripe in the browser at the same moment may lose the hold.`,
  auth: 'session',
  access: { action: 'canManagePayments', record: paymentRecord },
  params: byPaymentId,
  query: none,
  body: none,
  response: paymentViewSchema,
  status: 200,
  form: 'bare',
  accepted: 'The provider has not responded to the release, and `release_pending` is true. The service looks it up.',
  errors: [
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'INVALID_STATE',
    'PAYMENT_IN_PROGRESS',
    'VERSION_CONFLICT',
    'PROVIDER_ERROR',
  ],
  idempotent: 'stored',
  command: 'release',
  uses: ['table:read', 'table:put', ...PAYMENT_SECRETS],
  timeoutSeconds: 25,
}));

export const capturePaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.capture',
  method: 'POST',
  path: '/payments/{id}/capture',
  summary: 'Capture a held payment, in whole or in part',
  description: `Captures the held amount of a payment with \`capture_method: "manual"\`, once, in whole or in part. The
    rest is released. The payment becomes \`succeeded\`, and \`total_cents\` is the captured amount;
    \`authorized_cents\` stays the held amount. Send \`{}\` to capture everything.

    If you send only a total, tax and discount stay and the subtotal is derived. If the total is less than the tax, send subtotal, tax and discount.

    - 200 \`succeeded\`: the money is collected. A payment that was captured with this amount gets the same response.
    - 202 with \`capture_pending: true\`: the provider has not responded, or the bank decides later. \`payment.succeeded\` or
      \`payment.capture_failed\` follows as an event. A repeat with the same \`Idempotency-Key\` returns the current
      payment, and captures again if the capture did not happen.
    - 400 \`CAPTURE_EXCEEDS_AUTHORIZATION\`: the amount exceeds \`details.capturable_cents\`.
    - 402 \`PAYMENT_DECLINED\`: the bank refused. The amount stays held, and you can capture it again.
    - 409 \`INVALID_STATE\`: nothing is held. \`details.reason\` says whether the hold is \`expired\`, \`released\` or \`captured\`.
    - 409 \`PAYMENT_IN_PROGRESS\`: another capture or a release is under way.
    - 403 \`INSUFFICIENT_PERMISSIONS\` with \`details.reason: own_payment\`: the caller is the payer, as for a refund. Another person of the merchant
      must capture the payment.`,
  auth: 'platform-admin',
  access: { action: 'merchant', record: paymentRecord },
  params: byPaymentId,
  query: z.object({}),
  body: captureBody,
  response: paymentViewSchema,
  status: 200,
  accepted:
    'The outcome is open, and `capture_pending` is true. The service looks the capture up until its outcome is known.',
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PRICING_MISMATCH',
    'AMOUNT_TOO_SMALL',
    'CAPTURE_EXCEEDS_AUTHORIZATION',
    'UNSUPPORTED_PROVIDER',
    'PAYMENT_DECLINED',
    'INSUFFICIENT_PERMISSIONS',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'PAYMENT_IN_PROGRESS',
    'VERSION_CONFLICT',
    'PROVIDER_ERROR',
    'PROVIDER_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  idempotent: 'stored',
  command: 'capture',
  rateClass: 'money',
  limits: [{ name: 'capture-admin', max: 120, windowSeconds: 60, by: ({ caller }) => subjectOf(caller) }],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:ids'],
  timeoutSeconds: 25,
}));

export const changeMetadataEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: CHANGE_METADATA,
  method: 'PATCH',
  path: '/payments/{id}',
  summary: 'Change the metadata of a final payment',
  description: `Changes the metadata of a payment that is \`succeeded\` or \`canceled\`, for example after an order was shipped. Nothing is
    sent to the provider. \`payment.updated\` with the reason \`metadata\` follows as an event, unless nothing changes.

    - 409 \`INVALID_STATE\`: the payment is not final (use \`PUT /payments/intents/{id}\`), or its payer was erased
      (\`details.reason: erased\`).
    - 403 \`INSUFFICIENT_PERMISSIONS\` with \`details.reason: own_payment\`: the caller is the payer. Another person of the merchant must change it.`,
  auth: 'platform-admin',
  access: { action: 'merchant', record: paymentRecord },
  params: byPaymentId,
  query: z.object({}),
  body: changeMetadataBody,
  sentBack: { ...PAYMENT_SENT_BACK, changedBy: {} },
  response: paymentViewSchema,
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'INSUFFICIENT_PERMISSIONS', 'RESOURCE_NOT_FOUND', 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put'],
}));
