import { createAddress } from '../../shared/addresses/create.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { create } from './endpoints.ts';

export const handler = lambda(create, webDeps, createAddress);
