import { argv, stdout } from 'node:process';
import { endpoints } from '../functions/catalogue.ts';
import { apiDocument } from '../shared/http/openapi.ts';

/** `npm run openapi [-- <base URL>]`: the API document on standard output, as a host serves it at /openapi.json. */
const LOCAL = 'http://127.0.0.1:3000';

stdout.write(`${JSON.stringify(apiDocument(endpoints, argv[2] ?? LOCAL), null, 2)}\n`);
