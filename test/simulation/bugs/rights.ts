import type { Bug } from './bug.ts';

/** Mistakes in who may see and charge what. */
export const RIGHTS_BUGS: readonly Bug[] = [
  {
    name: 'everybody-owns',
    what: 'Every signed-in user counts as the owner of a personal record',
    file: 'shared/access/access.ts',
    text: 'const isOwn = record.userId !== undefined && record.userId === caller.userId;',
    replacement: 'const isOwn = record.userId !== undefined;',
  },
  {
    name: 'member-may-charge',
    what: 'A member without a financial role may charge for the organization',
    file: 'shared/access/permissions.ts',
    text: '  member: new Set(),',
    replacement: '  member: new Set(MONEY),',
  },
  {
    name: 'removed-member-may-charge',
    what: 'The maker of an organization’s payment may confirm it after removal',
    file: 'shared/access/access.ts',
    text: "if (action === 'read' && isOwn) return granted(permits(standing, 'canManagePayments'));",
    replacement: 'if (isOwn) return granted(true);',
  },
  {
    name: 'stale-cache-for-a-write',
    what: 'A write decides on the cached membership',
    file: 'shared/http/check-access.ts',
    text: "const read = action === 'read' ? deps.standings.cached : deps.standings.consistent;",
    replacement: 'const read = deps.standings.cached;',
  },
  {
    name: 'cache-never-expires',
    what: 'A cached membership is used for ever',
    file: 'shared/access/standing.ts',
    text: 'if (known && known.until > deps.now()) return known.standing;',
    replacement: 'if (known) return known.standing;',
  },
  {
    name: 'guest-by-e-mail',
    what: 'A guest token opens every record of the same e-mail address',
    file: 'shared/access/access.ts',
    text: 'caller.byToken && record.guestId === caller.guestId && record.guestEmail',
    replacement: 'caller.byToken && record.guestEmail',
  },
  {
    name: 'guest-list-shows-all',
    what: 'The list that needs no credential shows the whole payment',
    file: 'shared/payments/record/view.ts',
    text: `export const guestPaymentView = (payment: VisiblePayment) => ({
  id: payment.id,`,
    replacement: `export const guestPaymentView = (payment: VisiblePayment) => ({
  ...paymentView(payment),`,
  },
  {
    name: 'client-secret-in-lists',
    what: 'Lists show the client secret',
    file: 'shared/payments/record/view.ts',
    text: '  provider_intent_id: payment.providerIntentId ?? null,',
    replacement: '  provider_intent_id: payment.providerIntentId ?? null, client_secret: payment.clientSecret,',
  },
  {
    name: 'answer-of-another-caller',
    what: 'An idempotency key answers every caller with the first caller’s record',
    file: 'shared/idempotency/idempotency.ts',
    text: 'fingerprint(principal, route,',
    replacement: 'fingerprint(route,',
  },
  {
    name: 'key-ignored',
    what: 'A retry under the same idempotency key creates a second record',
    file: 'shared/idempotency/create-once.ts',
    text: 'let id = derivedId(kind, idempotency.scope);',
    replacement: 'let id = deps.newId(kind);',
  },
];
