import { organizations } from '../api/organizations.ts';
import { may, session } from '../api/session.ts';
import type { Subscription } from '../api/types.ts';

/** The commands for a subscription. The console shows a command only if the API would accept it from the caller. */
export type Command = 'change' | 'price' | 'cancel' | 'reactivate' | 'pause' | 'resume';

const MANAGING_ROLES: readonly string[] = ['owner', 'admin', 'billing'];

/** True for the owner, and for managing members of the owning organization. */
export const mayManage = ({ organization_id: organization, user_id: user }: Subscription): boolean => {
  if (organization === null) return user !== null && user === session.value?.userId;
  return organizations.value.some(({ id, role }) => id === organization && MANAGING_ROLES.includes(role));
};

const fittingCommands = ({ status, cancel_at_period_end: isEnding }: Subscription): readonly Command[] => {
  switch (status) {
    case 'active':
    case 'past_due':
      return isEnding ? ['reactivate', 'cancel'] : ['pause', 'cancel'];
    case 'trialing':
      return isEnding ? ['reactivate', 'cancel'] : ['cancel'];
    case 'paused':
      return ['resume', 'cancel'];
    case 'canceled':
      return ['reactivate'];
  }
};

/** True for a running subscription without a plan change in progress. */
const isChangeable = ({ status, pending_change: pending }: Subscription): boolean =>
  (status === 'active' || status === 'trialing') && pending === null;

/** True if the user may withdraw the plan change. False while the outcome of the change's payment is unknown. */
export const mayWithdraw = (subscription: Subscription): boolean =>
  subscription.pending_change?.status !== 'processing' && (mayManage(subscription) || may('subscriptions:operate'));

export const commandsFor = (subscription: Subscription): readonly Command[] => {
  const fitting = fittingCommands(subscription);
  if (mayManage(subscription)) return isChangeable(subscription) ? ['change', ...fitting] : fitting;
  // With the scope, users may only cancel a subscription, or set the price of one outside their organizations.
  if (!may('subscriptions:operate')) return [];
  const isOwn = organizations.value.some(({ id }) => id === subscription.organization_id);
  return [
    ...(isChangeable(subscription) && !isOwn ? (['price'] as const) : []),
    ...fitting.filter((one) => one === 'cancel'),
  ];
};
