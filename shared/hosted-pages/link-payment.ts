/** @module Makes a link to the hosted page of one payment. The payment waits for its payer until the link ends. */

import { DomainError } from '../core/errors.ts';
import { type Instant, iso, SECOND_MS } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { hasLostPlace } from '../payments/discount-of-payment.ts';
import { isOfSubscription, type VisiblePayment } from '../payments/payment.ts';
import { paymentStore } from '../payments/payment-store.ts';
import type { StoreDeps } from '../platform/table.ts';
import { requireOpenPayment } from '../subscriptions/billing/open-payment.ts';
import type { PageLinkInput } from './link-requests.ts';
import { PAYABLE } from './page-of-payment.ts';
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
  await keepOpen(deps, payment, { until: iso(expiresAt), returnUrl: body.return_url ?? undefined });
  return { data: { url, expires_at: iso(expiresAt) } };
};

/** A token counts whole seconds. */
export const expiryIn = (seconds: number, now: Instant): Instant => Math.floor(now / SECOND_MS + seconds) * SECOND_MS;

/** @throws DomainError INVALID_STATE */
const requirePayable = async ({ table }: StoreDeps, payment: VisiblePayment, now: Instant): Promise<void> => {
  if (!PAYABLE.includes(payment.status) || hasLostPlace(payment, now)) {
    throw new DomainError('INVALID_STATE', { message: `The payment is ${payment.status}, so nobody can pay it` });
  }
  if (isOfSubscription(payment)) await requireOpenPayment(table, payment);
};

interface KeptOpen {
  readonly until: string;
  readonly returnUrl: string | undefined;
}

/** An earlier link stays valid for its own time. */
const keepOpen = async (
  { table, now }: StoreDeps,
  payment: VisiblePayment,
  { until, returnUrl }: KeptOpen,
): Promise<void> => {
  const store = paymentStore(table, now);
  let current: VisiblePayment | undefined = payment;
  for (let tries = 0; current && tries < MOST_TRIES; tries += 1) {
    const linkUntil: string = [until, current.linkUntil ?? ''].toSorted()[1] ?? until;
    if (await store.setTimes(current, { linkUntil, linkReturnUrl: returnUrl })) return;
    current = await store.loadVisible(payment.id);
    if (current && !PAYABLE.includes(current.status)) break;
  }
  throw new DomainError('VERSION_CONFLICT');
};

const MOST_TRIES = 5;
