import { lambda } from '../../shared/http/lambda.ts';
import { listedOrganization } from '../../shared/organizations/organization.ts';
import { updateOrganization } from '../../shared/organizations/update-organization.ts';
import { webDeps } from '../../shared/runtime.ts';
import { updateOrganizationEndpoint } from './endpoints.ts';

export const handler = lambda(updateOrganizationEndpoint, webDeps, {
  run: updateOrganization,
  shows: (_, { record, role }) => listedOrganization(record, role),
});
