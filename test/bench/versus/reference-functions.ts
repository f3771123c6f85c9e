/**
 * @module The reference's get, create and confirm of a payment in a typical team's style, with middy, zod, lib-dynamodb
 * and Powertools' logger. esbuild bundles and minifies each function into one file.
 */
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { build as esbuild } from 'esbuild';
import { openClient } from '../service.ts';
import { PEERS } from './peers.ts';

export const REFERENCE_TABLE = 'reference';
export const MEASURED = ['get', 'create', 'confirm'] as const;
export type Measured = (typeof MEASURED)[number];

/** Writes `<outDir>/<name>.mjs`, with the settings for ES modules from the Powertools documentation. */
export const buildReference = async (outDir: string): Promise<void> => {
  await esbuild({
    entryPoints: MEASURED.map((name) => join(PEERS, 'reference', `${name}.ts`)),
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    sourcemap: 'external',
    sourcesContent: false,
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
};

export const makeReferenceTable = async (endpoint: string): Promise<void> => {
  const client = openClient(endpoint);
  await client.send(
    new CreateTableCommand({
      TableName: REFERENCE_TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((name) => ({ AttributeName: name, AttributeType: 'S' as const })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  client.destroy();
};
