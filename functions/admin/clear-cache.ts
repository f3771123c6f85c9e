import { clearCache } from '../../shared/admin/clear-cache.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { clearCacheEndpoint } from './endpoints.ts';

export const handler = lambda(clearCacheEndpoint, webDeps, clearCache);
