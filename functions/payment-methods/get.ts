import { lambda } from '../../shared/http/lambda.ts';
import { getMethod } from '../../shared/payment-methods/read-methods.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getMethodEndpoint } from './endpoints.ts';

export const handler = lambda(getMethodEndpoint, webDeps, getMethod);
