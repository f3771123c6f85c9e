import { lambda } from '../../shared/http/lambda.ts';
import { listMemberships } from '../../shared/memberships/read-memberships.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listMembershipsEndpoint } from './endpoints.ts';

export const handler = lambda(listMembershipsEndpoint, webDeps, listMemberships);
