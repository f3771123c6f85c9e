import { lambda } from '../../shared/http/lambda.ts';
import { browserConfig } from '../../shared/queries/browser-config.ts';
import { configDeps } from '../../shared/runtime.ts';
import { configEndpoint } from './endpoints.ts';

export const handler = lambda(configEndpoint, configDeps, browserConfig);
