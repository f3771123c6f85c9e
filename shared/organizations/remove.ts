import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Organization } from './organization.ts';
import { organizationStore, type StoreDeps } from './store.ts';

/** Deletes an organization: access to it ends at once, what belongs to it goes by appointments (finish-deletion.ts). */
export const deleteOrganization = async (
  deps: StoreDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Organization>,
): Promise<Reply> => {
  await organizationStore(deps).markDeleted(record.id);
  return { data: undefined, message: 'The organization was deleted' };
};
