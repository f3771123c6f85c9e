import { organizations } from '../api/organizations.ts';
import { session } from '../api/session.ts';
import type { Subscription } from '../api/types.ts';

/** What the caller may do to a subscription: what the API would not refuse. */
export type Command = 'cancel' | 'reactivate' | 'pause' | 'resume';

const MANAGING_ROLES: readonly string[] = ['owner', 'admin', 'billing'];

/** The owner, and the managing members of the organization that owns the subscription. */
const mayManage = ({ organization_id: organization, user_id: user }: Subscription): boolean => {
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

export const commandsFor = (subscription: Subscription): readonly Command[] => {
  const fitting = fittingCommands(subscription);
  if (mayManage(subscription)) return fitting;
  // Platform admins cancel any subscription, and change no other's otherwise.
  return session.value?.isAdmin === true ? fitting.filter((command) => command === 'cancel') : [];
};
