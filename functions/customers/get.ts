import { getCustomer } from '../../shared/customers/read-customers.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getCustomerEndpoint } from './endpoints.ts';

export const handler = lambda(getCustomerEndpoint, webDeps, getCustomer);
