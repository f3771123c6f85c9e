import { lambda } from '../../shared/http/lambda.ts';
import { linkMethodAddress } from '../../shared/payment-methods/update.ts';
import { moneyDeps } from '../../shared/runtime.ts';
import { linkAddress } from './endpoints.ts';

export const handler = lambda(linkAddress, moneyDeps, linkMethodAddress);
