import { lambda } from '../../shared/http/lambda.ts';
import { addMember } from '../../shared/organizations/organization-members.ts';
import { userDeps } from '../../shared/runtime.ts';
import { addMemberEndpoint as spec } from './endpoints.ts';

export const handler = lambda(spec, userDeps, addMember);
