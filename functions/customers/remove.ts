import { lambda } from '../../shared/http/lambda.ts';
import { deleteCustomer } from '../../shared/removal/remove-customer.ts';
import { customerRemovalDeps } from '../../shared/runtime.ts';
import { deleteCustomerEndpoint } from './endpoints.ts';

export const handler = lambda(deleteCustomerEndpoint, customerRemovalDeps, deleteCustomer);
