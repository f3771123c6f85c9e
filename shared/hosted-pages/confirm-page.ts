/**
 * @module Confirms the payment of a hosted page for its payer, as `POST /payments/confirm/{id}` does. The page charges
 * a one-time token or the payment's own method. It never chooses a stored method.
 */

import * as z from 'zod';
import { isOurId } from '../core/ids.ts';
import { tokenText, verificationTokenSchema } from '../http/fields.ts';
import { pageGone } from '../http/link-caller.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { findCollectedPayment } from '../payments/collect-payment.ts';
import { type ConfirmDeps, confirmPayment } from '../payments/confirm-payment.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import { findAlias } from '../platform/alias.ts';
import type { Table } from '../platform/table.ts';
import { type PaymentPageDeps, paymentPage } from './page-of-payment.ts';
import { pageRefusal } from './page-refusal.ts';
import { pageUrl } from './page-settings.ts';

export const confirmPageBody = z
  .object({
    payment_method_id: tokenText(255)
      .nullish()
      .describe(
        "A one-time token that the provider's library made in the browser. Without it, the payment's own method is charged. The id of a stored method gets 404.",
      ),
    verification_token: verificationTokenSchema.describe(
      "The proof of the payer's authentication that the provider's library made in the browser (Square). Used once and not stored.",
    ),
  })
  .meta({ id: 'ConfirmPage', description: 'The one-time token to charge.' });

type ConfirmInput = z.output<typeof confirmPageBody>;

export const confirmPage = async (
  deps: ConfirmDeps & PaymentPageDeps,
  request: ApiRequest<unknown, unknown, ConfirmInput, VisiblePayment>,
): Promise<Reply> => {
  const { record: payment, body } = request;
  await requireOneTimeToken(deps.table, payment, body.payment_method_id ?? undefined);
  const returnUrl = payment.returnUrl ?? pageUrl(deps.pages);
  const reply = await confirmPayment(deps, {
    ...request,
    params: { id: payment.id },
    body: { ...body, return_url: returnUrl },
  }).catch(pageRefusal);
  const current = (await findCollectedPayment(deps, payment.id)) ?? payment;
  const state = await paymentPage(deps, current);
  return { ...reply, data: state, keptData: { ...state, client_secret: null } };
};

/** @throws DomainError RESOURCE_NOT_FOUND for the id of a stored method */
const requireOneTimeToken = async (
  table: Table,
  { providerId }: VisiblePayment,
  token: string | undefined,
): Promise<void> => {
  if (token === undefined) return;
  if (isOurId(token) || (await findAlias(table, providerId, token))) throw pageGone();
};
