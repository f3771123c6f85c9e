import type { ApiRequest, Reply } from '../http/request.ts';
import type { StoreDeps } from '../platform/table.ts';
import { type Organization, organizationView } from './organization.ts';
import type { UpdateOrganizationBody } from './organization-requests.ts';
import { organizationStore } from './organization-store.ts';

/** Updates the fields that the body contains; null clears a field. */
export const updateOrganization = async (
  deps: StoreDeps,
  { record, body }: ApiRequest<unknown, unknown, UpdateOrganizationBody, Organization>,
): Promise<Reply> => {
  const sent = (name: string, value: string | null | undefined) =>
    value === undefined ? {} : { [name]: value ?? undefined };
  const updated = await organizationStore(deps).update(record.id, {
    ...sent('name', body.name),
    ...sent('businessEmail', body.business_email),
    ...sent('businessPhone', body.business_phone),
    ...sent('taxId', body.tax_id),
    ...sent('address', body.address),
  });
  return { data: organizationView(updated) };
};
