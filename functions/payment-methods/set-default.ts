import { lambda } from '../../shared/http/lambda.ts';
import { setDefaultMethod } from '../../shared/payment-methods/update-method.ts';
import { webDeps } from '../../shared/runtime.ts';
import { setDefaultMethodEndpoint } from './endpoints.ts';

export const handler = lambda(setDefaultMethodEndpoint, webDeps, setDefaultMethod);
