import { createCustomer } from '../../shared/customers/create.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { create } from './endpoints.ts';

export const handler = lambda(create, moneyDeps, createCustomer);
