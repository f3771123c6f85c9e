import { listEveryPayment } from '../../shared/admin/list-every-payment.ts';
import { withCsv } from '../../shared/http/csv.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listEveryPaymentEndpoint } from './endpoints.ts';

const deps = withCsv(webDeps);

export const handler = lambda(listEveryPaymentEndpoint, deps, listEveryPayment);
