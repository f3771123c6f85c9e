import { lambda } from '../../shared/http/lambda.ts';
import { createOrganization } from '../../shared/organizations/create-organization.ts';
import { webDeps } from '../../shared/runtime.ts';
import { createOrganizationEndpoint } from './endpoints.ts';

export const handler = lambda(createOrganizationEndpoint, webDeps, createOrganization);
