import { lambda } from '../../shared/http/lambda.ts';
import { listMemberships } from '../../shared/memberships/read.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listMembershipsEndpoint } from './endpoints.ts';

export const handler = lambda(listMembershipsEndpoint, webDeps, listMemberships);
