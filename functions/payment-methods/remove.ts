import { lambda } from '../../shared/http/lambda.ts';
import { deleteMethod } from '../../shared/removal/remove-method.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { deleteMethodEndpoint } from './endpoints.ts';

export const handler = lambda(deleteMethodEndpoint, moneyDeps, deleteMethod);
