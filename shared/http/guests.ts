import * as z from 'zod';
import type { Caller } from '../access/caller.ts';
import type { GuestTokens } from '../access/guest-token.ts';
import type { RateLimit } from './endpoint.ts';
import { emailSchema } from './fields.ts';
import type { ApiRequest } from './request.ts';

/** Requests without a credential are counted by network address and by the e-mail that they name. */
const MINUTE = 60;
const HOUR = 3_600;

const freshGuest = (caller: Caller) => (caller.kind === 'guest' ? caller : undefined);

export const guestCreateLimits: readonly RateLimit[] = [
  {
    name: 'guest-create-ip',
    max: 10,
    windowSeconds: MINUTE,
    by: ({ caller, sourceNetwork }) => freshGuest(caller) && sourceNetwork,
  },
  { name: 'guest-create-email', max: 5, windowSeconds: MINUTE, by: ({ caller }) => freshGuest(caller)?.email },
];

/** The caller's network address; undefined for a session, which is not counted by it. */
export const networkWithoutSession = ({ caller, sourceNetwork }: ApiRequest): string | undefined =>
  caller.kind === 'session' ? undefined : sourceNetwork;
const guestEmail = ({ caller }: ApiRequest): string | undefined => (caller.kind === 'guest' ? caller.email : undefined);

/** Declined cards: confirming a payment and saving a method count in the same windows. */
export const guestDeclineLimits: readonly RateLimit[] = [
  { name: 'declined-ip', max: 10, windowSeconds: HOUR, counts: 'declined payments', by: networkWithoutSession },
  { name: 'declined-email', max: 10, windowSeconds: HOUR, counts: 'declined payments', by: guestEmail },
];

/** Path parameters of a list by e-mail. */
export const emailParams = z.object({
  email: emailSchema.describe('The address that the guest gave in `guest_data`, in any case.'),
});

export const guestListLimits = (name: string): readonly RateLimit[] => [
  { name: `${name}-ip`, max: 10, windowSeconds: MINUTE, by: ({ sourceNetwork }) => sourceNetwork },
  { name: `${name}-email`, max: 5, windowSeconds: MINUTE, by: ({ params }) => emailParams.parse(params).email },
];

/** The guest token that a guest's create request returns in addition to the record. */
export const guestTokenFields = async (
  tokens: GuestTokens,
  caller: Caller,
  record: { readonly guestId?: string | undefined; readonly guestEmail?: string | undefined },
): Promise<{ readonly guest_token?: string; readonly guest_token_expires_at?: string }> => {
  if (caller.kind !== 'guest' || !record.guestId || !record.guestEmail) return {};
  const issued = await tokens.issue({ guestId: record.guestId, email: record.guestEmail });
  return issued ? { guest_token: issued.token, guest_token_expires_at: issued.expiresAt } : {};
};
