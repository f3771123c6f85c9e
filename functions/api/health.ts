import { lambda } from '../../shared/http/lambda.ts';
import { webDeps } from '../../shared/runtime.ts';
import { healthEndpoint } from './endpoints.ts';

/** It asks nobody: a neighbour that is away is no reason to take this service away too. */
export const handler = lambda(healthEndpoint, webDeps, async () => ({ data: { status: 'ok' } }));
