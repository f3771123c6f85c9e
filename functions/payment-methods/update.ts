import { lambda } from '../../shared/http/lambda.ts';
import { updateMethod } from '../../shared/payment-methods/update.ts';
import { webDeps } from '../../shared/runtime.ts';
import { update } from './endpoints.ts';

export const handler = lambda(update, webDeps, updateMethod);
