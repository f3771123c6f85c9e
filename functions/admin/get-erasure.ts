import { lambda } from '../../shared/http/lambda.ts';
import { getErasure } from '../../shared/removal/erasure-job.ts';
import { webDeps } from '../../shared/runtime.ts';
import { getErasureEndpoint } from './erasure-endpoints.ts';

export const handler = lambda(getErasureEndpoint, webDeps, getErasure);
