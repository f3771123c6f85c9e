/** @module Makes a link to the hosted page of one payment. The payment waits for its payer until the link expires. */

import { DomainError } from '../core/errors.ts';
import { type Instant, iso, SECOND_MS } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { hasLostPlace } from '../payments/discount-of-payment.ts';
import { keepPaymentOpen } from '../payments/keep-open.ts';
import { isOfSubscription, PAYABLE, type VisiblePayment } from '../payments/payment.ts';
import type { StoreDeps } from '../platform/table.ts';
import { requireOpenPayment } from '../subscriptions/billing/open-payment.ts';
import type { PageLinkInput } from './link-requests.ts';
import { type LinkDeps, linkUrl, requirePages, requireReturnUrl } from './page-settings.ts';

const DEFAULT_SECONDS = 86_400;

type LinkRequest = ApiRequest<unknown, unknown, PageLinkInput, VisiblePayment>;

export const linkPayment = async (deps: StoreDeps & LinkDeps, request: LinkRequest): Promise<Reply> => {
  const { record: payment, body } = request;
  await requirePages(deps);
  requireReturnUrl(deps.pages, body.return_url);
  const now = deps.now();
  await requirePayable(deps, payment, now);
  const expiresAt = expiryIn(body.expires_in ?? DEFAULT_SECONDS, now);
  const url = await linkUrl(deps, { kind: 'payment', id: payment.id }, expiresAt);
  await keepPaymentOpen(deps, payment, { until: iso(expiresAt), returnUrl: body.return_url ?? undefined });
  return { data: { url, expires_at: iso(expiresAt) } };
};

/** The time after this many seconds, rounded down to a whole second, because a token stores whole seconds. */
export const expiryIn = (seconds: number, now: Instant): Instant => Math.floor(now / SECOND_MS + seconds) * SECOND_MS;

/** @throws DomainError INVALID_STATE */
const requirePayable = async ({ table }: StoreDeps, payment: VisiblePayment, now: Instant): Promise<void> => {
  if (!PAYABLE.includes(payment.status) || hasLostPlace(payment, now)) {
    throw new DomainError('INVALID_STATE', {
      message: `The payment is ${payment.status}, so it can no longer be paid`,
    });
  }
  if (isOfSubscription(payment)) await requireOpenPayment(table, payment);
};
