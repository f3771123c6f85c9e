import { lambda } from '../../shared/http/lambda.ts';
import { listMembers } from '../../shared/organizations/read-organizations.ts';
import { userDeps } from '../../shared/runtime.ts';
import { listMembersEndpoint as spec } from './endpoints.ts';

export const handler = lambda(spec, userDeps, listMembers);
