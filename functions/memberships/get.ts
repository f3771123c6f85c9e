import { lambda } from '../../shared/http/lambda.ts';
import { getMembership } from '../../shared/memberships/read-memberships.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getMembershipEndpoint } from './endpoints.ts';

export const handler = lambda(getMembershipEndpoint, webDeps, getMembership);
