import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/** Runs `npm run deploy`. Node caches compiled code for the next run, so its output starts sooner. */
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/compiled'));
await import('./deploy-command.ts');
