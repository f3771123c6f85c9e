import { getErasure } from '../../shared/erasure/job.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getErasureEndpoint } from './erasure-endpoints.ts';

export const handler = lambda(getErasureEndpoint, webDeps, getErasure);
