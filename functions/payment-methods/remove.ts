import { lambda } from '../../shared/http/lambda.ts';
import { deleteMethod } from '../../shared/payment-methods/remove.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { remove } from './endpoints.ts';

export const handler = lambda(remove, moneyDeps, deleteMethod);
