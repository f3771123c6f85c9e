import { confirmPage } from '../../shared/hosted-pages/confirm-page.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { pageDeps } from '../../shared/runtime.ts';
import { requireOpenPayment } from '../../shared/subscriptions/billing/open-payment.ts';
import { confirmPageEndpoint } from './endpoints.ts';

const confirmDeps = () => ({ ...pageDeps(), requireOpenPayment });

export const handler = lambda(confirmPageEndpoint, confirmDeps, confirmPage);
