import { listAddresses } from '../../shared/addresses/read.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { listAddressesEndpoint } from './endpoints.ts';

export const handler = lambda(listAddressesEndpoint, webDeps, listAddresses);
