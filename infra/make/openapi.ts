/** @module `npm run openapi [-- <base URL>]` prints the API document, as a host serves it at /openapi.json. */
import { argv, stdout } from 'node:process';
import { apiDocumentAt } from '../../functions/api/document.ts';

const LOCAL = 'http://127.0.0.1:3000';

stdout.write(`${JSON.stringify(apiDocumentAt(argv[2] ?? LOCAL), null, 2)}\n`);
