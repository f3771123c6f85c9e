import { signal } from '@preact/signals';
import { answerOf, api } from './client.ts';
import type { Organization } from './types.ts';

/** The organizations of the caller. */
export const organizations = signal<readonly Organization[]>([]);

export const readOrganizations = async (): Promise<void> => {
  organizations.value = (await answerOf(api.GET('/organizations'))).data.data;
};
