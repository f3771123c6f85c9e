import { lambda } from '../../shared/http/lambda.ts';
import { createMethod } from '../../shared/payment-methods/create.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { create } from './endpoints.ts';

export const handler = lambda(create, moneyDeps, createMethod);
