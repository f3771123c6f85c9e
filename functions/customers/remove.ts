import { deleteCustomer } from '../../shared/customers/remove.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { remove } from './endpoints.ts';

export const handler = lambda(remove, moneyDeps, deleteCustomer);
