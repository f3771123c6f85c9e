import { listEveryPayment } from '../../shared/admin/list-every-payment.ts';
import { csvRenderer } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { userDeps } from '../../shared/runtime.ts';
import { listEveryPaymentEndpoint } from './endpoints.ts';

export const handler = lambda(listEveryPaymentEndpoint, userDeps, { run: listEveryPayment, csv: csvRenderer });
