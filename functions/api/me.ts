import { lambda } from '../../shared/http/lambda.ts';
import { me } from '../../shared/queries/me.ts';
import { webDeps } from '../../shared/runtime.ts';
import { meEndpoint } from './endpoints.ts';

export const handler = lambda(meEndpoint, webDeps, me);
