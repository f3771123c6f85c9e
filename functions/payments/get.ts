import { lambda } from '../../shared/http/lambda.ts';
import { getPayment } from '../../shared/queries/get-payment.ts';
import { webDeps } from '../../shared/runtime.ts';
import { get } from './endpoints.ts';

export const handler = lambda(get, webDeps, getPayment);
