import { effect, signal } from '@preact/signals';
import { answerOf, api } from './client.ts';
import { session } from './session.ts';
import type { Organization } from './types.ts';

/** The organizations of the caller. */
export const organizations = signal<readonly Organization[]>([]);

effect(() => {
  if (!session.value) organizations.value = [];
});

/** A response for an ended session is dropped. */
export const readOrganizations = async (): Promise<void> => {
  const asking = session.value;
  const { data } = await answerOf(api.GET('/organizations'));
  if (session.value === asking) organizations.value = data.data;
};
