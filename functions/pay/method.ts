import { changePageMethod } from '../../shared/hosted-pages/change-page-method.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { methodPageDeps } from '../../shared/runtime.ts';
import { requireOpenPayment } from '../../shared/subscriptions/billing/open-payment.ts';
import { changePageMethodEndpoint } from './endpoints.ts';

const deps = () => ({ ...methodPageDeps(), requireOpenPayment });

export const handler = lambda(changePageMethodEndpoint, deps, changePageMethod);
