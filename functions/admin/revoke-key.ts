import { revokeKey } from '../../shared/admin/service-keys.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { revokeKeyEndpoint } from './key-endpoints.ts';

export const handler = lambda(revokeKeyEndpoint, webDeps, revokeKey);
