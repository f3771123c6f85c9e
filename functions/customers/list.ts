import { listCustomers } from '../../shared/customers/read-customers.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listCustomersEndpoint } from './endpoints.ts';

export const handler = lambda(listCustomersEndpoint, webDeps, listCustomers);
