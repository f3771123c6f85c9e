import { lambda } from '../../shared/http/lambda.ts';
import { getMethod } from '../../shared/payment-methods/read.ts';
import { webDeps } from '../../shared/runtime.ts';
import { get } from './endpoints.ts';

export const handler = lambda(get, webDeps, getMethod);
