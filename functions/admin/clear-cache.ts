import { clearCache } from '../../shared/admin/clear-cache.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { cacheDeps } from '../../shared/runtime.ts';
import { clearCacheEndpoint } from './endpoints.ts';

export const handler = lambda(clearCacheEndpoint, cacheDeps, clearCache);
