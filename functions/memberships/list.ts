import { lambda } from '../../shared/http/lambda.ts';
import { listMemberships } from '../../shared/memberships/read.ts';
import { webDeps } from '../../shared/runtime.ts';
import { list } from './endpoints.ts';

export const handler = lambda(list, webDeps, listMemberships);
