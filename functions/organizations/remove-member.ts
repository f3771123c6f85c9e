import { lambda } from '../../shared/http/lambda.ts';
import { removeMember } from '../../shared/organizations/organization-members.ts';
import { webDeps } from '../../shared/runtime.ts';
import { removeMemberEndpoint as spec } from './endpoints.ts';

export const handler = lambda(spec, webDeps, removeMember);
