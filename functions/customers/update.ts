import { customerView } from '../../shared/customers/customer.ts';
import { updateCustomer } from '../../shared/customers/update-customer.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { updateCustomerEndpoint } from './endpoints.ts';

export const handler = lambda(updateCustomerEndpoint, moneyDeps, {
  run: updateCustomer,
  shows: (_, { record }) => customerView(record),
});
