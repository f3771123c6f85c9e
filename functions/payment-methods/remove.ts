import { lambda } from '../../shared/http/lambda.ts';
import { deleteMethod } from '../../shared/removal/payment-method.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { remove } from './endpoints.ts';

export const handler = lambda(remove, moneyDeps, deleteMethod);
