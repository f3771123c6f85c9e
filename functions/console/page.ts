import { showConsole } from '../../shared/console/console.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { consoleDeps } from '../../shared/runtime.ts';
import { consoleEntry } from './bundle.ts';
import { consolePageEndpoint } from './endpoints.ts';

export const handler = lambda(consolePageEndpoint, consoleDeps, showConsole(consoleEntry));
