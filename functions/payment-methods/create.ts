import { lambda } from '../../shared/http/lambda.ts';
import { createMethod } from '../../shared/payment-methods/create-method.ts';
import { methodDeps } from '../../shared/runtime.ts';
import { createMethodEndpoint } from './endpoints.ts';

export const handler = lambda(createMethodEndpoint, methodDeps, createMethod);
