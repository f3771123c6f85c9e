import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { healthEndpoint } from './endpoints.ts';

/** Checks no dependencies, because a failed dependency must not take this service out of use. */
export const handler = lambda(healthEndpoint, webDeps, async () => ({ data: { status: 'ok' } }));
