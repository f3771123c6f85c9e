import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/** `npm run deploy`. Node caches what it compiles for the next command, so the first line comes sooner. */
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/compiled'));
await import('./deploy-command.ts');
