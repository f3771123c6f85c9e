import { lambda } from '../../shared/http/lambda.ts';
import { linkMethodAddress, methodAsRead } from '../../shared/payment-methods/update-method.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { linkMethodAddressEndpoint } from './endpoints.ts';

export const handler = lambda(linkMethodAddressEndpoint, moneyDeps, { run: linkMethodAddress, shows: methodAsRead });
