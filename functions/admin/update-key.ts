import { keyAsRead, updateKey } from '../../shared/admin/service-keys.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { updateKeyEndpoint } from './key-endpoints.ts';

export const handler = lambda(updateKeyEndpoint, webDeps, { run: updateKey, shows: keyAsRead });
