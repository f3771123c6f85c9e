import { createCustomer } from '../../shared/customers/create-customer.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { createCustomerEndpoint } from './endpoints.ts';

export const handler = lambda(createCustomerEndpoint, moneyDeps, createCustomer);
