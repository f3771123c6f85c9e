/** @module Makes a link to the hosted page of one subscription. */

import { DomainError } from '../core/errors.ts';
import { iso } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { StoreDeps } from '../platform/table.ts';
import { noteOnSubscription } from '../subscriptions/commands/note-on-subscription.ts';
import type { VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { expiryIn } from './link-payment.ts';
import type { PageLinkInput } from './link-requests.ts';
import { type LinkDeps, linkUrl, requirePages, requireReturnUrl } from './page-settings.ts';

const DEFAULT_SECONDS = 604_800;

export const linkSubscription = async (
  deps: StoreDeps & LinkDeps,
  { record, body }: ApiRequest<unknown, unknown, PageLinkInput, VisibleSubscription>,
): Promise<Reply> => {
  await requirePages(deps);
  requireReturnUrl(deps.pages, body.return_url);
  if (record.status === 'canceled') {
    throw new DomainError('INVALID_STATE', { message: 'The subscription is canceled' });
  }
  const expiresAt = expiryIn(body.expires_in ?? DEFAULT_SECONDS, deps.now());
  const url = await linkUrl(deps, { kind: 'subscription', id: record.id }, expiresAt);
  const linkReturnUrl = body.return_url ?? undefined;
  if (linkReturnUrl !== record.linkReturnUrl) await noteOnSubscription(deps, record, { linkReturnUrl });
  return { data: { url, expires_at: iso(expiresAt) } };
};
