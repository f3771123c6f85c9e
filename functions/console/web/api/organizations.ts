import { effect, signal } from '@preact/signals';
import { answerOf, api } from './client.ts';
import { session } from './session.ts';
import type { Organization, Payment } from './types.ts';

/** The organizations of the caller. */
export const organizations = signal<readonly Organization[]>([]);

/** True if the user or one of the user's organizations is the payer. The API then refuses merchant-only actions. */
export const isOwnPayment = ({ user_id: user, organization_id: organization }: Payment): boolean =>
  (user !== null && user === session.value?.userId) || organizations.value.some(({ id }) => id === organization);

effect(() => {
  if (!session.value) organizations.value = [];
});

/** Reads the caller's organizations. Drops a response that arrives after the session has ended. */
export const readOrganizations = async (): Promise<void> => {
  const asking = session.value;
  const { data } = await answerOf(api.GET('/organizations'));
  if (session.value === asking) organizations.value = data.data;
};
