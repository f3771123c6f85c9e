/** @module Starts a payment from a payment link, as a guest's create with the link's price. */

import * as z from 'zod';
import type { RecordKind } from '../access/record-kind.ts';
import { productRecord, soldQuantity } from '../catalog/catalog-records.ts';
import { DomainError, invalid } from '../core/errors.ts';
import { once } from '../core/once.ts';
import { textAt } from '../core/rows.ts';
import { PAYMENT_SLOTS, PROVIDER_SLOTS } from '../core/settings.ts';
import { DAY_MS, instant, iso, MINUTE_MS } from '../core/time.ts';
import { boundedText, discountCodeField, emailSchema } from '../http/fields.ts';
import { pageGone } from '../http/link-caller.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { takePlaceSteps, takingPlace } from '../payment-links/link-places.ts';
import type { PaymentLink } from '../payment-links/payment-link.ts';
import type { CodeDeps } from '../payments/apply-code.ts';
import { findCollectedPayment } from '../payments/collect-payment.ts';
import { createPayment, type LinkedPayment } from '../payments/create-payment.ts';
import { alongsideCreate } from '../payments/named-records.ts';
import type { Owner } from '../platform/keys.ts';
import { quantityOfLink, slotsOf } from './page-of-link.ts';
import { type PaymentPageDeps, paymentPage } from './page-of-payment.ts';
import { type LinkDeps, linkToken, pageUrl } from './page-settings.ts';
import { pageStateSchema } from './page-state.ts';

export const startPageBody = z
  .object({
    email: emailSchema.meta({ description: "The payer's e-mail address.", examples: ['gus@example.com'] }),
    name: boundedText(200)
      .trim()
      .min(1)
      .meta({ description: "The payer's full name.", examples: ['Gus Guest'] }),
    quantity: soldQuantity.nullish().describe('The quantity, within the bounds of the link; the smallest if absent.'),
    provider_id: z
      .enum(PAYMENT_SLOTS)
      .nullish()
      .describe("The provider slot to pay with; the page's first slot if absent."),
    discount_code: discountCodeField.describe('A discount code (case-insensitive).'),
  })
  .meta({ id: 'StartPage', description: 'The payer and the quantity.' });
type StartInput = z.output<typeof startPageBody>;

export const startedPageSchema = /* @__PURE__ */ once(() =>
  pageStateSchema()
    .extend({ token: z.string().describe('Opens the page of the payment for 24 hours.') })
    .meta({ id: 'StartedPage', description: "The state of the new payment's page, and its token." }),
);

/** The token of the started payment expires 24 hours after the payment's creation. */
const TOKEN_MS = DAY_MS;

type StartDeps = PaymentPageDeps & CodeDeps & LinkDeps;
type StartRequest = ApiRequest<unknown, unknown, StartInput, PaymentLink>;

export const startPage = async (deps: StartDeps, request: StartRequest): Promise<Reply> => {
  const { record: link, idempotency } = request;
  if (!idempotency) {
    throw invalid([
      { path: 'Idempotency-Key', rule: 'required', message: 'is required, so that a repeat starts no second payment' },
    ]);
  }
  const reply = await createPayment(deps, await createRequest(deps, request), linkedBy(deps, link));
  const payment = await findCollectedPayment(deps, textAt(reply.data, 'id') ?? '');
  if (!payment) throw new Error('the payment that was started is missing');
  const token = await linkToken(deps, { kind: 'payment', id: payment.id }, instant(payment.createdAt) + TOKEN_MS);
  const state = await paymentPage(deps, payment);
  return { data: { ...state, token }, ...(reply.headers && { headers: reply.headers }) };
};

/** A guest's create request. The page's body sets only the person, the quantity, the slot and the discount code. */
const createRequest = async (deps: StartDeps, request: StartRequest): Promise<Parameters<typeof createPayment>[1]> => {
  const { record: link, body, caller } = request;
  if (caller.kind !== 'guest') throw pageGone();
  const slot = slotFor(deps, link, body);
  const owner: Owner = { kind: 'guest', email: caller.email, guestId: caller.guestId };
  const created = {
    provider_id: slot,
    ...priceOfLink(link),
    currency: link.prices?.currency ?? '',
    quantity: numberOf(link, body),
    discount_code: body.discount_code,
    description: link.description,
    metadata: link.metadata,
    return_url: pageUrl(deps.pages),
  };
  const item = link.productId === undefined ? undefined : await deps.table.get(productRecord.key(link.productId));
  const product = item && productRecord.parse(item);
  // The product may have become recurring since the link was made.
  if (link.productId !== undefined && (!product || product.billing_interval)) {
    throw new DomainError('PRODUCT_INACTIVE', { details: { product_id: link.productId } });
  }
  return {
    ...request,
    body: created,
    owner,
    alongside: await deps.table.getMany([...alongsideCreate(owner, created)], { consistent: true }),
    // The cast is sound, because a link refers only to products.
    named: <T>(kind: RecordKind<T>) => (kind.resource === productRecord.resource ? (product as T) : undefined),
  };
};

const priceOfLink = ({ prices }: PaymentLink) =>
  prices && {
    subtotal_cents: prices.subtotalCents,
    tax_cents: prices.taxCents,
    discount_cents: prices.discountCents,
  };

/** @throws DomainError PROVIDER_MISMATCH for a slot that the page does not offer */
const slotFor = (deps: StartDeps, link: PaymentLink, { provider_id: sent }: StartInput) => {
  const slots = slotsOf(deps, link);
  const slot = PROVIDER_SLOTS.find((one) => one === (sent ?? slots[0]));
  if (slot !== undefined && slots.includes(slot)) return slot;
  throw new DomainError('PROVIDER_MISMATCH', { message: 'The payment link does not offer this provider' });
};

/** @throws DomainError QUANTITY_INVALID outside the bounds of the link */
const numberOf = (link: PaymentLink, { quantity: sent }: StartInput): number | undefined => {
  const { min, max } = quantityOfLink(link) ?? { min: 1, max: 1 };
  const quantity = sent ?? min;
  if (quantity < min || quantity > max) {
    throw new DomainError('QUANTITY_INVALID', {
      message: `The quantity must be from ${min} to ${max}, not ${quantity}`,
      details: { minimum: min, maximum: max },
    });
  }
  return quantity === 1 ? undefined : quantity;
};

/**
 * The link's part in a started payment. With `max_payments`, the payment takes a place. An unpaid payment keeps its
 * place only for a limited time.
 */
const linkedBy = ({ table, now, placeHoldMinutes }: StartDeps, link: PaymentLink): LinkedPayment => {
  const { id, maxPayments: most, returnUrl: linkReturnUrl } = link;
  if (most === undefined) {
    return { fields: { paymentLink: { id }, linkReturnUrl }, steps: [], within: (write) => write() };
  }
  const heldUntil = iso(now() + placeHoldMinutes * MINUTE_MS);
  return {
    fields: { paymentLink: { id, isCounted: true, heldUntil }, linkReturnUrl },
    steps: takePlaceSteps(id, most),
    within: (write) => takingPlace({ table, linkId: id, most }, write),
  };
};
