import type { Caller } from '../access/caller.ts';
import type { GuestTokens } from '../access/guest-token.ts';

/** What every successful guest create answers beside the record. */
export const guestTokenFields = async (
  tokens: GuestTokens,
  caller: Caller,
  record: { readonly guestId?: string | undefined; readonly guestEmail?: string | undefined },
): Promise<{ readonly guest_token?: string; readonly guest_token_expires_at?: string }> => {
  if (caller.kind !== 'guest' || !record.guestId || !record.guestEmail) return {};
  const issued = await tokens.issue({ guestId: record.guestId, email: record.guestEmail });
  return issued ? { guest_token: issued.token, guest_token_expires_at: issued.expiresAt } : {};
};
