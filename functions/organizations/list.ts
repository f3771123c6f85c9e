import { lambda } from '../../shared/http/lambda.ts';
import { listOrganizations } from '../../shared/organizations/read-organizations.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listOrganizationsEndpoint } from './endpoints.ts';

export const handler = lambda(listOrganizationsEndpoint, webDeps, listOrganizations);
