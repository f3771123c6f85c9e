import { showConsoleFile } from '../../shared/console/console.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { consoleDeps } from '../../shared/runtime.ts';
import { consoleEntry, consoleFiles } from './bundle.ts';
import { consoleFileEndpoint } from './endpoints.ts';

export const handler = lambda(consoleFileEndpoint, consoleDeps, showConsoleFile(consoleEntry, consoleFiles));
