/**
 * @module The actor of a function's current work. The request chain, queue consumers and the application of provider
 * events each set the actor once. Stores read the actor here, so use cases need not pass it on.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import * as z from 'zod';

const ACTOR_TYPES = ['user', 'guest', 'admin', 'key', 'link', 'provider', 'system'] as const;
type ActorType = (typeof ACTOR_TYPES)[number];

export interface Actor {
  readonly type: ActorType;
  /**
   * The id of the user (`user`, `admin`), the guest, the service key or the provider slot. For `link`, the id of the
   * record or the payment link that the hosted page opens. For `system`, the name of the worker.
   */
  readonly id: string;
  /** The payer for whom a key or a hosted page acts. */
  readonly onBehalfOf?: Payer | undefined;
}

const PAYER_TYPES = ['user', 'organization', 'guest'] as const;
const payerSchema = z.object({
  type: z.enum(PAYER_TYPES).describe('The kind of payer: a user, an organization or a guest.'),
  id: z.string().describe('The user id, the `org_…` id or the `guest_id`.'),
});
type Payer = Readonly<z.infer<typeof payerSchema>>;

interface Work {
  /** The id of the HTTP request, of the provider's event or of the queue's message. */
  readonly requestId: string;
  readonly actor: Actor;
}

const storage = new AsyncLocalStorage<Work>();

/** Runs the function and its asynchronous work with this actor and request id. */
export const runAs = <T>(work: Work, run: () => Promise<T>): Promise<T> => storage.run(work, run);

/** The actor and the request id of the current work; undefined outside of any work. */
export const currentWork = (): Work | undefined => storage.getStore();

/**
 * The actor of a record's version. The actor is stored in few bytes, so it does not raise the write units of a record.
 */
export const actorSchema = z.object({
  type: z
    .enum(ACTOR_TYPES)
    .describe(
      'Who acted: a user, a guest, one of your people, a service key, the holder of a link to a hosted page, the provider, or the service itself.',
    ),
  id: z.string(),
  onBehalfOf: payerSchema.optional(),
});

/** An actor in a history. Payers do not see which admin or key acted. */
export const shownActorSchema = actorSchema
  .omit({ onBehalfOf: true })
  .extend({
    id: actorSchema.shape.id
      .optional()
      .describe(
        "The user id, the `guest_id`, the id of the key, the id of the record or payment link that the hosted page opens, the provider slot, or the name of the service's worker. Absent if one of your people or a key acted and a payer reads the record.",
      ),
    on_behalf_of: payerSchema.optional().describe('The payer for whom a service key or a hosted page acted.'),
  })
  .meta({ id: 'Actor', description: 'Who caused a change.' });
export type ShownActor = z.infer<typeof shownActorSchema>;

export const shownActor = ({ type, id, onBehalfOf }: Actor): ShownActor => ({
  type,
  id,
  ...(onBehalfOf && { on_behalf_of: onBehalfOf }),
});

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SHORT_UUID = /^~[\w-]{22}$/;

/** Shortens a UUID from 36 to 23 characters. */
const storedRequestId = (id: string): string =>
  UUID.test(id) ? `~${Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')}` : id;

/** The original id, before `makerAttributes` shortened it. */
export const requestIdOf = (stored: string | undefined): string | undefined => {
  if (stored === undefined || !SHORT_UUID.test(stored)) return stored;
  const hex = Buffer.from(stored.slice(1), 'base64url').toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** Ids in the record itself, which a stored actor omits. */
interface Known {
  readonly userId?: string | undefined;
  readonly guestId?: string | undefined;
  readonly providerId?: string | undefined;
}

const LETTERS = {
  user: 'u',
  guest: 'g',
  admin: 'a',
  key: 'k',
  link: 'l',
  provider: 'p',
  system: 's',
} as const satisfies Record<ActorType, string>;

const knownId = (type: ActorType, { userId, guestId, providerId }: Known): string | undefined => {
  const ids: Partial<Record<ActorType, string | undefined>> = { user: userId, guest: guestId, provider: providerId };
  return ids[type];
};

/** A letter for the type, and the actor's id unless it is the record's own user, guest or provider. */
const storedActor = ({ type, id }: Actor, known: Known): string =>
  id === knownId(type, known) ? LETTERS[type] : `${LETTERS[type]}${id}`;

/** @returns undefined for a version without an actor. */
export const actorOf = (stored: string | undefined, known: Known): Actor | undefined => {
  const type = ACTOR_TYPES.find((one) => LETTERS[one] === stored?.[0]);
  return stored === undefined || type === undefined
    ? undefined
    : { type, id: stored.slice(1) || (knownId(type, known) ?? '') };
};

/** The actor of a version, and the id of the request, event or message behind the version. */
interface Maker {
  readonly actor?: Actor | undefined;
  readonly requestId?: string | undefined;
}

export const currentMaker = (): Maker => {
  const work = currentWork();
  return { actor: work?.actor, requestId: work?.requestId };
};

const PAYER_LETTERS = { user: 'u', organization: 'o', guest: 'g' } as const satisfies Record<Payer['type'], string>;

const payerOf = (stored: string | undefined): Payer | undefined => {
  const type = PAYER_TYPES.find((one) => PAYER_LETTERS[one] === stored?.[0]);
  return stored === undefined || type === undefined ? undefined : { type, id: stored.slice(1) };
};

/** The attributes of an item that store the maker of its version. */
export const makerAttributes = ({ actor, requestId }: Maker, known: Known) => ({
  ...(actor && { by: storedActor(actor, known) }),
  ...(actor?.onBehalfOf && { bf: `${PAYER_LETTERS[actor.onBehalfOf.type]}${actor.onBehalfOf.id}` }),
  ...(requestId !== undefined && { rq: storedRequestId(requestId) }),
});

export const makerSchema = z.object({
  by: z.string().optional(),
  bf: z.string().optional(),
  rq: z.string().optional(),
});

export const makerOf = ({ by, bf, rq }: z.infer<typeof makerSchema>, known: Known): Maker => {
  const actor = actorOf(by, known);
  const onBehalfOf = payerOf(bf);
  return { actor: actor && onBehalfOf ? { ...actor, onBehalfOf } : actor, requestId: requestIdOf(rq) };
};
