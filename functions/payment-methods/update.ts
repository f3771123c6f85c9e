import { lambda } from '../../shared/http/lambda.ts';
import { methodAsRead, updateMethod } from '../../shared/payment-methods/update-method.ts';
import { webDeps } from '../../shared/runtime.ts';
import { updateMethodEndpoint } from './endpoints.ts';

export const handler = lambda(updateMethodEndpoint, webDeps, { run: updateMethod, shows: methodAsRead });
