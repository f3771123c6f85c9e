import { rotateKey } from '../../shared/admin/service-keys.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { keyDeps } from '../../shared/runtime.ts';
import { rotateKeyEndpoint } from './key-endpoints.ts';

export const handler = lambda(rotateKeyEndpoint, keyDeps, rotateKey);
