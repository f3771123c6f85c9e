/**
 * @module Bundles every function once and writes the stacks to cdk.out, without network access, credentials or lookups.
 */
import { join, resolve } from 'node:path';
import { argv, exit, stderr } from 'node:process';
import { App } from 'aws-cdk-lib';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { SettingsError } from '../../shared/core/settings.ts';
import { build, DEFAULT_ID, FUNCTIONS_FOLDER } from './build.ts';
import { addService } from './stacks/service.ts';
import { runChecks } from './stage/checks.ts';
import { type DeploymentSettings, readDeploymentSettings } from './stage/settings.ts';

const root = resolve(import.meta.dirname, '../..');

const settingsOrExit = (): DeploymentSettings => {
  try {
    const read = readDeploymentSettings();
    return argv.includes('--force') ? { ...read, checks: 'warn' } : read;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    stderr.write(`${error.message}\n`);
    return exit(1);
  }
};

const settings = settingsOrExit();
const { refused, text } = runChecks({ settings, catalogue: { endpoints, triggers } });
if (text !== '') stderr.write(`${text}\n`);
if (refused) {
  stderr.write(`${settings.stage} is not built; to build it for a review: npm run synth -- --force, or CHECKS=warn\n`);
  exit(1);
}
for (const name of settings.secretsLeftOut) {
  stderr.write(`${name} is not deployed; store it in its secret in Secrets Manager\n`);
}
await build(FUNCTIONS_FOLDER);
const app = new App({ analyticsReporting: false, outdir: join(root, 'cdk.out') });
addService(app, { settings, codeDir: FUNCTIONS_FOLDER, endpoints, triggers, defaultId: DEFAULT_ID });
app.synth();
