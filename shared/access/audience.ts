/**
 * @module The audience of a view. In log entries, refunds and histories, payers, members and guests see only an
 * allow-list of fields; staff see every stored field.
 */

import type { ShownActor } from '../core/actor.ts';
import { type Caller, mayAsMerchant } from './caller.ts';
import type { Scope } from './scopes.ts';

/** `staff` means the merchant's people and keys with the scope, and the operator's tool; `payer` everyone else. */
export type Audience = 'staff' | 'payer';

export const audienceOf = (caller: Caller, scope: Scope = 'payments:read'): Audience =>
  mayAsMerchant(caller, scope) ? 'staff' : 'payer';

/** The actor of a version, as shown to the audience. Payers see that an admin or a key acted, but not which. */
export const actorFor = (audience: Audience, actor: ShownActor | null): ShownActor | null => {
  if (actor === null) return null;
  const isHidden = audience === 'payer' && (actor.type === 'admin' || actor.type === 'key');
  if (!isHidden) return actor;
  return { type: actor.type, ...(actor.on_behalf_of && { on_behalf_of: actor.on_behalf_of }) };
};
