import { lambda } from '../../shared/http/lambda.ts';
import { deleteCustomer } from '../../shared/removal/customer.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { remove } from './endpoints.ts';

export const handler = lambda(remove, moneyDeps, deleteCustomer);
