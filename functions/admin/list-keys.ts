import { listKeys } from '../../shared/admin/service-keys.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listKeysEndpoint } from './key-endpoints.ts';

export const handler = lambda(listKeysEndpoint, webDeps, listKeys);
