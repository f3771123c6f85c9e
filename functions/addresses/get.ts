import { getAddress } from '../../shared/addresses/read.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { get } from './endpoints.ts';

export const handler = lambda(get, webDeps, getAddress);
