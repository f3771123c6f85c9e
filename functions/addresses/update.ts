import { addressAsRead, updateAddress } from '../../shared/customers/update-address.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { updateAddressEndpoint } from './endpoints.ts';

export const handler = lambda(updateAddressEndpoint, webDeps, { run: updateAddress, shows: addressAsRead });
