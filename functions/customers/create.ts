import { createCustomer } from '../../shared/customers/create.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { createCustomerEndpoint } from './endpoints.ts';

export const handler = lambda(createCustomerEndpoint, moneyDeps, createCustomer);
