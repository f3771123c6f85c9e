/**
 * @module The cells of the usage matrix. Each combines the method's holder, its naming, the action, the caller and the
 * payer. Meaningless combinations are omitted, each by a predicate with its reason.
 */

export const ACTIONS = [
  'create and confirm',
  'update and confirm',
  'confirm with',
  'save',
  'subscribe',
  'change method',
  'resume',
  'reactivate',
] as const;
export type ActionName = (typeof ACTIONS)[number];

/** `in both` has the billing role in both organizations. `removed` had this role in the organization. */
export const SESSION_CALLERS = ['owner', 'admin', 'billing', 'member', 'removed', 'stranger', 'in both'] as const;
export type SignedInCaller = (typeof SESSION_CALLERS)[number];
const GUESTS = ['guest', 'guest without token', 'stranger without token'] as const;
export const USE_CALLERS = [...SESSION_CALLERS, ...GUESTS] as const;
export type UseCaller = (typeof USE_CALLERS)[number];

/**
 * `user` is the caller. `another user` is a billing member of the organization. `former member` was removed from the
 * organization. `deleted` means a deleted method of the payer. `guest` is the calling guest, with or without a token.
 * The stranger without a token knows the ids but has another e-mail. The guest's method is new.
 */
export const HOLDERS = [
  'user',
  'another user',
  'guest',
  'another guest',
  'organization',
  'another organization',
  'former member',
  'deleted',
] as const;
export type Holder = (typeof HOLDERS)[number];

/** `stored` means that a permitted user has already stored the method on the payment or subscription. */
export const NAMINGS = ['our id', "provider's id", 'stored'] as const;
export type Naming = (typeof NAMINGS)[number];

/** The owner of the payment, method or subscription, either the caller or the organization. */
export const PAYERS = ['person', 'organization'] as const;
export type Payer = (typeof PAYERS)[number];

export const PROVIDERS = ['provider_a', 'provider_b', 'provider_c'] as const;
export type Provider = (typeof PROVIDERS)[number];

export interface Use {
  readonly action: ActionName;
  readonly caller: UseCaller;
  readonly holder: Holder;
  readonly naming: Naming;
  readonly payer: Payer;
}

export interface UseCell extends Use {
  readonly provider: Provider;
}

export const isGuest = (caller: UseCaller): caller is (typeof GUESTS)[number] => GUESTS.some((one) => one === caller);

export const isWithoutToken = (caller: UseCaller): caller is Exclude<(typeof GUESTS)[number], 'guest'> =>
  isGuest(caller) && caller !== 'guest';

export const isPermitted = (caller: UseCaller): boolean => PERMITTED.includes(caller);
const PERMITTED: readonly UseCaller[] = ['owner', 'admin', 'billing', 'in both'];

const STORES_NOTHING: readonly ActionName[] = ['create and confirm', 'save', 'subscribe'];
const NAMES_NOTHING: readonly ActionName[] = ['resume', 'reactivate'];
const OF_SUBSCRIPTIONS: readonly ActionName[] = ['subscribe', 'change method', 'resume', 'reactivate'];

/**
 * True for payments from before the usage rule. Today's API refuses to store such a method, but old rows may have it.
 */
export const isFromBefore = ({ naming, payer, holder }: Use): boolean =>
  naming === 'stored' &&
  (payer === 'person'
    ? ['another user', 'organization', 'another organization'].includes(holder)
    : holder === 'another organization');

const isStored = ({ naming }: Use): boolean => naming === 'stored';

/** The omitted combinations, by reason. */
export const LEFT_OUT: Readonly<Record<string, (use: Use) => boolean>> = {
  'nothing is stored before the record is made': (use) => isStored(use) && STORES_NOTHING.includes(use.action),
  'a change of method names one': (use) => isStored(use) && use.action === 'change method',
  'resume and reactivate have no body: they name no method': (use) =>
    !isStored(use) && NAMES_NOTHING.includes(use.action),
  'a save takes what the provider gave, not our id': ({ naming, action }) => action === 'save' && naming === 'our id',
  'a guest is no user: its own method is in the column of the guest': ({ caller, holder }) =>
    isGuest(caller) && holder === 'user',
  'who was removed names a method of their own: it is in the column of the user': (use) =>
    !isStored(use) && use.caller === 'removed' && use.holder === 'former member',
  'a guest pays for no organization': (use) =>
    isStored(use) && use.payer === 'organization' && ['guest', 'another guest'].includes(use.holder),
  'who has no permission lends no method': (use) =>
    isStored(use) && use.payer === 'organization' && use.holder === 'user' && !isPermitted(use.caller),
  'a former member lent to the organization only': (use) =>
    isStored(use) && use.payer === 'person' && use.holder === 'former member',
  'a guest’s method pays for that guest only': (use) =>
    isStored(use) && use.payer === 'person' && !isGuest(use.caller) && ['guest', 'another guest'].includes(use.holder),
  'on a guest’s payment only that guest could store one': (use) =>
    isStored(use) && use.payer === 'person' && isGuest(use.caller) && use.holder !== 'guest',
  'a session is asked for before the record is read: one cell tells that': (use) =>
    isStored(use) && isGuest(use.caller) && OF_SUBSCRIPTIONS.includes(use.action) && use.payer === 'person',
  'subscriptions always refused another’s method': (use) => isFromBefore(use) && OF_SUBSCRIPTIONS.includes(use.action),
};

const all: readonly Use[] = ACTIONS.flatMap((action) =>
  USE_CALLERS.flatMap((caller) =>
    HOLDERS.flatMap((holder) =>
      NAMINGS.flatMap((naming) => PAYERS.map((payer) => ({ action, caller, holder, naming, payer }))),
    ),
  ),
);

export const USES = all.filter((use) => !Object.values(LEFT_OUT).some((isLeftOut) => isLeftOut(use)));

export const ALL_USES = all;

/** Every use at every provider. */
export const CELLS: readonly UseCell[] = USES.flatMap((use) => PROVIDERS.map((provider) => ({ ...use, provider })));

export const cellName = ({ action, caller, holder, naming, payer, provider }: UseCell): string =>
  `${action}, ${provider}: ${caller}, for ${payer === 'person' ? 'themselves' : 'the organization'}, the method of ${holder} by ${naming}`;
