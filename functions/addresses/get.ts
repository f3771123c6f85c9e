import { getAddress } from '../../shared/customers/read-addresses.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getAddressEndpoint } from './endpoints.ts';

export const handler = lambda(getAddressEndpoint, webDeps, getAddress);
