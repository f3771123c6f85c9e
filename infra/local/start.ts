import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/** Runs `npm start`. Node caches compiled code for the next start, which saves a third of the time. */
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/compiled'));
await import('./command.ts');
