import type { Bug } from './bug.ts';

/** Mistakes that help people with lost rights, with stolen cards, or with the e-mail addresses of others. */
export const ABUSE_BUGS: readonly Bug[] = [
  {
    name: 'claim-without-membership',
    what: 'A claim does not ask whether its person still belongs to the organization',
    file: 'shared/access/right.ts',
    text: "...(caller.kind === 'session' ? [{ check: memberKey(organizationId, caller.userId), if: [hasRole] }] : []),",
    replacement: '',
  },
  {
    name: 'claim-without-role',
    what: 'A claim asks for a membership of any role',
    file: 'shared/access/right.ts',
    text: 'if: [hasRole] }]',
    replacement: 'if: [{ exists: true }] }]',
  },
  {
    name: 'attempt-without-right',
    what: 'The claim of a confirmation does not ask for the right of its caller',
    file: 'shared/payments/confirm-payment.ts',
    text: 'onlyIf: [...onlyIf, ...method.onlyIf, ...right.onlyIf],',
    replacement: 'onlyIf: [...onlyIf, ...method.onlyIf],',
  },
  {
    name: 'amount-without-right',
    what: 'A change of an amount does not ask for the right of its caller',
    file: 'shared/payments/update-payment.ts',
    text: 'await store.claimDraft(payment, draft, onlyIf);',
    replacement: 'await store.claimDraft(payment, draft);',
  },
  {
    name: 'method-without-right',
    what: 'A method is saved without the right of its caller',
    file: 'shared/payment-methods/create-method.ts',
    text: '      ...request.right.onlyIf,\n',
    replacement: '',
  },
  {
    name: 'declines-by-e-mail',
    what: 'Declines of guests count by the e-mail address that they name',
    file: 'shared/http/windows.ts',
    text: 'return isKnown && payerNetwork === undefined ? caller.guestId : undefined;',
    replacement: "return caller.kind === 'guest' ? caller.email : undefined;",
  },
  {
    name: 'declined-subscriptions-uncounted',
    what: 'Declines by new subscriptions have no window',
    file: 'functions/subscriptions/endpoints.ts',
    text: 'limits: [...guestCreateLimits, ...declineLimits, refusedCodes],',
    replacement: 'limits: [...guestCreateLimits, refusedCodes],',
  },
  {
    name: 'declined-saves-uncounted',
    what: 'Declines of methods to save have no window',
    file: 'functions/payment-methods/endpoints.ts',
    text: '  ...declineLimits,\n',
    replacement: '',
  },
  {
    name: 'declines-by-payment-only',
    what: 'Declines of a confirmation count by its payment alone',
    file: 'shared/payments/confirm-limits.ts',
    text: '  ...declineLimits,\n',
    replacement: '',
  },
  {
    name: 'declined-payment-uncounted',
    what: 'Declines of one payment have no window of their own',
    file: 'shared/payments/confirm-limits.ts',
    text: "  { name: 'declined-payment', max: 5, windowSeconds: HOUR_SECONDS, counts: 'declines', by: paymentNamed },\n",
    replacement: '',
  },
];
