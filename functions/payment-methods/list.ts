import { lambda } from '../../shared/http/lambda.ts';
import { listMethods } from '../../shared/payment-methods/read-methods.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listMethodsEndpoint } from './endpoints.ts';

export const handler = lambda(listMethodsEndpoint, webDeps, listMethods);
