import { lambda } from '../../shared/http/lambda.ts';
import { requestErasure } from '../../shared/removal/request-erasure.ts';
import { webDeps } from '../../shared/runtime.ts';
import { requestErasureEndpoint } from './erasure-endpoints.ts';

export const handler = lambda(requestErasureEndpoint, webDeps, requestErasure);
