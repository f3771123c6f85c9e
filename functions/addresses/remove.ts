import { deleteAddress } from '../../shared/addresses/remove.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { remove } from './endpoints.ts';

export const handler = lambda(remove, webDeps, deleteAddress);
