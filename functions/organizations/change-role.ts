import { lambda } from '../../shared/http/lambda.ts';
import { changeRole, memberAsRead } from '../../shared/organizations/organization-members.ts';
import { webDeps } from '../../shared/runtime.ts';
import { changeRoleEndpoint as spec } from './endpoints.ts';

export const handler = lambda(spec, webDeps, { run: changeRole, shows: memberAsRead });
