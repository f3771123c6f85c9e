import { lambda } from '../../shared/http/lambda.ts';
import { leaveOrganization } from '../../shared/organizations/organization-members.ts';
import { webDeps } from '../../shared/runtime.ts';
import { leaveOrganizationEndpoint } from './endpoints.ts';

export const handler = lambda(leaveOrganizationEndpoint, webDeps, leaveOrganization);
