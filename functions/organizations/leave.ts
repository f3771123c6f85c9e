import { lambda } from '../../shared/http/lambda.ts';
import { leaveOrganization } from '../../shared/organizations/members.ts';
import { webDeps } from '../../shared/runtime.ts';
import { leave } from './endpoints.ts';

export const handler = lambda(leave, webDeps, leaveOrganization);
