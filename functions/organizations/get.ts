import { lambda } from '../../shared/http/lambda.ts';
import { getOrganization } from '../../shared/organizations/read-organizations.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getOrganizationEndpoint } from './endpoints.ts';

export const handler = lambda(getOrganizationEndpoint, webDeps, getOrganization);
