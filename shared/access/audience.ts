/**
 * @module The audience of a view. Payers, members and guests see only the fields named for them in a log entry, a
 * refund or a history; staff see everything stored.
 */

import type { ShownActor } from '../core/actor.ts';
import type { Caller } from './caller.ts';

/** `staff` means platform admins and the operator's tool, `payer` everyone else. */
export type Audience = 'staff' | 'payer';

export const audienceOf = (caller: Caller): Audience =>
  caller.kind === 'session' && caller.isAdmin ? 'staff' : 'payer';

/** The actor of a version as the audience sees it. A payer learns that an admin acted, but not which admin. */
export const actorFor = (audience: Audience, actor: ShownActor | null): ShownActor | null => {
  if (actor === null) return null;
  return audience === 'payer' && actor.type === 'admin' ? { type: actor.type } : actor;
};
