/**
 * @module The caller of a request with a hosted page's token. The token names one record, and the caller is that
 * record's payer. Every failure to open the page has the same error, which reveals no reason.
 */

import type { Caller } from '../access/caller.ts';
import { LONGEST_LINK_TOKEN } from '../access/link-token.ts';
import type { Owned } from '../access/record-kind.ts';
import { DomainError } from '../core/errors.ts';
import { textAt } from '../core/rows.ts';
import type { AccessRule } from './endpoint.ts';
import type { Exchange } from './exchange.ts';

const HEADER = 'x-link-token';

export const pageGone = (cause?: unknown): DomainError =>
  new DomainError('RESOURCE_NOT_FOUND', {
    message: 'The link is no longer valid',
    ...(cause !== undefined && { cause }),
  });

/** True if the request has the token and no session, on a route that accepts both. */
export const opensBeside = ({ spec, caller, headers }: Exchange): boolean =>
  spec.auth === 'session-or-guest' && !!spec.opens && caller.kind === 'anonymous' && !!headers[HEADER]?.trim();

/** @throws DomainError RESOURCE_NOT_FOUND for every token that opens no page on this route */
export const openingCaller = async (exchange: Exchange): Promise<Caller> => {
  const { spec, deps, headers } = exchange;
  const token = headers[HEADER]?.trim() ?? '';
  const target = token.length > LONGEST_LINK_TOKEN ? undefined : await deps.linkTokens.read(token);
  const kind = target && spec.opens?.[target.kind];
  const item = kind && (await deps.table.get(kind.key(target.id)));
  const record = item && kind.parse(item);
  if (!target || record === undefined || !kind?.opensPage?.(record, deps.now())) throw pageGone();
  exchange.opened = target;
  return payerOf(kind.ownedBy(record), { id: target.id, email: textAt(record, 'userEmail') });
};

interface Opened {
  readonly id: string;
  readonly email: string | undefined;
}

/** The payer of the record. A payment link belongs to the merchant and has no payer. */
const payerOf = ({ organizationId, userId, guestId, guestEmail }: Owned, { id, email }: Opened): Caller => {
  const link = { id };
  if (organizationId !== undefined) return { kind: 'organization', organizationId, link };
  if (userId !== undefined) {
    return { kind: 'session', userId, email, organizationId: undefined, isAdmin: false, link };
  }
  if (guestId === undefined || guestEmail === undefined) return { kind: 'anonymous' };
  const unnamed = { name: undefined, phone: undefined };
  return { kind: 'guest', guestId, email: guestEmail, ...unnamed, byToken: true, onlyRecord: id, link };
};

/** The access rule of the route, applied to the token's record. */
export const openedRule = ({ spec, opened }: Pick<Exchange, 'spec' | 'opened'>): AccessRule | undefined => {
  const record = opened && spec.opens?.[opened.kind];
  return spec.access && record ? { ...spec.access, record } : spec.access;
};

/** Replaces a refusal that would reveal the reason with the common error of hosted pages. */
export const withoutReason = ({ spec }: Pick<Exchange, 'spec'>, error: DomainError): DomainError =>
  spec.auth === 'link-token' && REFUSALS.includes(error.status) ? pageGone(error) : error;

const REFUSALS: readonly number[] = [401, 403, 404];
