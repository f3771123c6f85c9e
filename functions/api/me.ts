import { lambda } from '../../shared/http/lambda.ts';
import { me } from '../../shared/queries/me.ts';
import { meDeps } from '../../shared/runtime.ts';
import { meEndpoint } from './endpoints.ts';

export const handler = lambda(meEndpoint, meDeps, me);
