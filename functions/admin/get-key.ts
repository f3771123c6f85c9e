import { getKey } from '../../shared/admin/service-keys.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getKeyEndpoint } from './key-endpoints.ts';

export const handler = lambda(getKeyEndpoint, webDeps, getKey);
