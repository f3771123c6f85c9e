import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { linkBillingAddress } from '../../shared/subscriptions/update.ts';
import { linkAddress } from './endpoints.ts';

export const handler = lambda(linkAddress, webDeps, linkBillingAddress);
