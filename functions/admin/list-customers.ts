import { listEveryCustomer } from '../../shared/admin/list-every-customer.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listEveryCustomerEndpoint } from './export-endpoints.ts';

export const handler = lambda(listEveryCustomerEndpoint, webDeps, listEveryCustomer);
