import { isFromBefore, isGuest, isPermitted, isWithoutToken, type UseCaller, type UseCell } from './cells.ts';

/**
 * The expected response to a use of a method, derived from the usage rule without the service's code. By this rule, a
 * person's own method may pay for the person, and for an organization if the person may pay for it. An organization's
 * method may pay only for that organization. Every other method is refused. A refusal lists several responses if the
 * rule allows several.
 */
export type Expected =
  | { readonly kind: 'charged' }
  /** The caller already owns the method, so its existing record is returned. */
  | { readonly kind: 'shown' }
  /** `by` names who refuses the use: the service or the provider. */
  | { readonly kind: 'refused'; readonly answers: readonly RefusedAnswer[]; readonly by: 'service' | 'provider' };

export type RefusedAnswer = `${number} ${string}`;

const refused = (...answers: readonly RefusedAnswer[]): Expected => ({ kind: 'refused', answers, by: 'service' });

const NOT_FOUND = '404 RESOURCE_NOT_FOUND';
const NO_MEMBER = '403 ORGANIZATION_ACCESS_DENIED';
const NOT_ALLOWED = '403 INSUFFICIENT_PERMISSIONS';
const NO_METHOD = '400 PAYMENT_METHOD_REQUIRED';
const INVALID = '400 VALIDATION_ERROR';

export const expectedOf = (use: UseCell): Expected =>
  doorOf(use) ?? (use.naming === 'stored' ? ofStored(use) : ofNamed(use));

/** The first refusal, for a caller without rights to the payment, subscription or organization. */
const doorOf = ({ action, caller, payer }: UseCell): Expected | undefined => {
  if (isGuest(caller)) {
    if (!['create and confirm', 'save', 'subscribe', 'confirm with'].includes(action)) {
      return refused('401 AUTHENTICATION_REQUIRED', '401 GUEST_NOT_ALLOWED');
    }
    if (action === 'confirm with') {
      if (isWithoutToken(caller)) return refused('401 AUTHENTICATION_REQUIRED');
      return payer === 'organization' ? refused(NOT_FOUND) : undefined;
    }
    return payer === 'organization' ? refused(NO_MEMBER) : undefined;
  }
  return payer === 'organization' && !isPermitted(caller) ? refused(standing(caller)) : undefined;
};

const standing = (caller: UseCaller): RefusedAnswer => (caller === 'member' ? NOT_ALLOWED : NO_MEMBER);

/**
 * A stored method is checked again on use. The method of another member is charged only if that member is the caller.
 * A deleted method, or the method of a former member, no longer counts as a method of the payment or subscription.
 */
const ofStored = (use: UseCell): Expected => {
  if (isFromBefore(use)) return refused(NO_METHOD, NOT_ALLOWED, NO_MEMBER);
  switch (use.holder) {
    case 'user':
    case 'guest':
    case 'organization':
      return { kind: 'charged' };
    case 'another user':
      return refused(NOT_ALLOWED);
    default:
      return refused(NO_METHOD);
  }
};

/** A method that the request names. Our id and the provider's id name the same record. */
const ofNamed = (use: UseCell): Expected => {
  const { caller, holder } = use;
  switch (holder) {
    case 'user':
      return ofOwn(use);
    case 'guest':
      return caller === 'guest' || (caller === 'guest without token' && provesGuest(use))
        ? ofOwn(use)
        : refused(NOT_FOUND);
    case 'another user':
    case 'another guest':
    case 'former member':
      return refused(NOT_FOUND);
    case 'organization':
      return ofOrganization(use, isPermitted(caller), use.payer === 'organization');
    case 'another organization':
      return ofOrganization(use, caller === 'in both', false);
    case 'deleted':
      return ofDeleted(use);
  }
};

/** A guest without a token is recognized only by our ids. A new subscription always names the customer by our id. */
const provesGuest = ({ action, naming }: UseCell): boolean => naming === 'our id' || action === 'subscribe';

/** A person's own method can pay for the person, and for an organization if the person may pay for it. */
const ofOwn = ({ action, payer }: UseCell): Expected => {
  if (action !== 'save') return { kind: 'charged' };
  return payer === 'person' ? { kind: 'shown' } : refused(NOT_ALLOWED);
};

const ofOrganization = ({ action, caller, holder }: UseCell, mayUse: boolean, pays: boolean): Expected => {
  // The customer may be checked first, and a guest without a token is then refused because of the customer.
  if (isGuest(caller)) return action === 'subscribe' ? refused(NO_MEMBER, NOT_FOUND) : refused(NO_MEMBER);
  if (!mayUse) return refused(holder === 'organization' ? standing(caller) : NO_MEMBER);
  // The interface allows only the caller's own method in a change of method, even for an organization's subscription.
  if (action === 'change method') return refused(INVALID);
  if (!pays) return refused(NOT_ALLOWED);
  return { kind: action === 'save' ? 'shown' : 'charged' };
};

/**
 * A deleted method has no record, under our id or the provider's. The service cannot tell a method detached at Stripe
 * from a new method, so it sends the method and Stripe refuses it.
 */
const ofDeleted = ({ action, naming, provider }: UseCell): Expected => {
  if (naming === 'our id') return refused(NOT_FOUND);
  if (action === 'subscribe' || action === 'change method') return refused(NOT_FOUND, INVALID);
  if (provider === 'provider_a') {
    const answers = action === 'save' ? ([NOT_FOUND, INVALID] as const) : ([INVALID] as const);
    return { kind: 'refused', answers, by: 'provider' };
  }
  return refused(action === 'save' ? NOT_FOUND : INVALID);
};
