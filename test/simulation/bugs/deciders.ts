import type { Bug } from './bug.ts';

/** Mistakes that let people decide on their own payments, or let others decide what a lent card pays. */
export const DECIDER_BUGS: readonly Bug[] = [
  {
    name: 'own-payment-is-decided',
    what: 'Staff and platform admins decide on their own payments',
    file: 'shared/access/own-payment.ts',
    text: '  (userId !== undefined && userIds.includes(userId)) ||\n',
    replacement: '',
  },
  {
    name: 'own-guest-payment-is-decided',
    what: 'Staff decide on what they paid as guests',
    file: 'shared/access/own-payment.ts',
    text: '  (guestEmail !== undefined && emailHash(guestEmail) === hash) ||\n',
    replacement: '',
  },
  {
    name: 'own-organization-is-ignored',
    what: 'The owner and the members of an organization decide on its payments',
    file: 'shared/access/own-payment.ts',
    text: 'organizationId === undefined ? [] : decider.userIds.map((id) => memberKey(organizationId, id));',
    replacement: '[];',
  },
  {
    name: 'own-key-decides',
    what: 'A service key decides on the payments of its maker',
    file: 'shared/access/own-payment.ts',
    text: '{ userIds: holders,',
    replacement: '{ userIds: [],',
  },
  {
    name: 'membership-binds-key',
    what: 'A service key is refused for every organization of which its maker is a member',
    file: 'shared/access/own-payment.ts',
    text: "bindingRoles: ['owner'] };",
    replacement: 'bindingRoles: ROLES };',
  },
  {
    name: 'own-price-is-set',
    what: 'Staff set the price of their own subscriptions',
    file: 'shared/subscriptions/plan-changes/plan-change-terms.ts',
    text: "  if (decision.kind !== 'allowed') throw decision.refusal;",
    replacement: "  if (decision.kind === 'no scope') throw decision.refusal;",
  },
  {
    name: 'own-downgrade-now',
    what: 'Staff come to a cheaper plan before the end of the period that they have paid',
    file: 'shared/subscriptions/plan-changes/plan-change-terms.ts',
    text: "  if (decision.kind === 'own payment') throw decision.refusal;",
    replacement: "  if (decision.kind === 'own payment') return when;",
  },
  {
    name: 'lent-card-pays-for-others',
    what: 'Every member who manages subscriptions changes what another member’s card pays',
    file: 'shared/subscriptions/plan-changes/plan-change-terms.ts',
    text: '  requireLender(request, plan, known.method);\n',
    replacement: '',
  },
  {
    name: 'lent-card-pays-later',
    what: 'A member schedules what another member’s card pays from the next period on',
    file: 'shared/subscriptions/plan-changes/plan-change-terms.ts',
    text: '  requireLender(request, plan, known.method);\n',
    replacement: "  if (body.when !== 'period_end') requireLender(request, plan, known.method);\n",
  },
  {
    name: 'lent-schedule-is-withdrawn',
    what: 'A member withdraws the change that the lender of the card has scheduled',
    file: 'shared/subscriptions/plan-changes/withdraw-change.ts',
    text: '  await requireLender(deps, caller, record);\n',
    replacement: '',
  },
  {
    name: 'lent-price-is-raised',
    what: 'The merchant raises the price that a lent card pays',
    file: 'shared/subscriptions/plan-changes/plan-change-terms.ts',
    text: '!(asAdmin && isLowered(record, plan))',
    replacement: '!asAdmin',
  },
];
