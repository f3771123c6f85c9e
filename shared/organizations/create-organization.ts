import type { IdDeps } from '../core/keyed-ids.ts';
import { iso } from '../core/time.ts';
import { createOnce } from '../http/create-once.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { StoreDeps } from '../platform/table.ts';
import { newOrganization, organizationView, userIdOf } from './organization.ts';
import type { CreateOrganizationBody } from './organization-requests.ts';
import { organizationStore } from './organization-store.ts';

export const createOrganization = async (
  deps: StoreDeps & IdDeps,
  { body, caller, idempotency }: ApiRequest<unknown, unknown, CreateOrganizationBody>,
): Promise<Reply> => {
  const at = iso(deps.now());
  const text = (value: string | null | undefined): string | undefined => value ?? undefined;
  const { record, replayed } = await createOnce(deps, {
    store: organizationStore(deps),
    kind: 'organization',
    idempotency,
    build: async (id) =>
      newOrganization(
        {
          id,
          name: body.name,
          ownerUserId: userIdOf(caller),
          businessEmail: text(body.business_email),
          businessPhone: text(body.business_phone),
          taxId: text(body.tax_id),
          address: text(body.address),
          requestHash: idempotency?.requestHash,
        },
        at,
      ),
  });
  return { data: organizationView(record), ...(replayed && { headers: { 'idempotent-replayed': 'true' } }) };
};
