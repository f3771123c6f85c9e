import { createKey } from '../../shared/admin/service-keys.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { keyDeps } from '../../shared/runtime.ts';
import { createKeyEndpoint } from './key-endpoints.ts';

export const handler = lambda(createKeyEndpoint, keyDeps, createKey);
