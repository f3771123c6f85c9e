import { listAddresses } from '../../shared/customers/read-addresses.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listAddressesEndpoint } from './endpoints.ts';

export const handler = lambda(listAddressesEndpoint, webDeps, listAddresses);
