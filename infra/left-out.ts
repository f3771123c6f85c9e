import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

/**
 * What bundles leave out of the packages that they hold: 180 KB that no function can reach. Each has to be unreachable
 * by its nature, not by our habits, because the local host runs the packages whole and would not notice.
 */
export const leftOut: Plugin = {
  name: 'left-out',
  setup: (build) => {
    for (const trim of [credentialChain, eventStreams, testHelpers]) trim.setup(build);
  },
};

/** On Lambda credentials stand in the environment, where the SDK's chain looks first: the rest (profiles, SSO) never runs. */
const credentialChain: Plugin = {
  name: 'credential-chain',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ path, resolveDir }) => ({
      path,
      namespace: 'credential-chain',
      sideEffects: false,
      pluginData: resolveDir,
    }));
    onLoad({ filter: /.*/, namespace: 'credential-chain' }, ({ pluginData }) => ({
      contents: `export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';`,
      resolveDir: String(pluginData),
    }));
  },
};

/** The SDK imports them at the first operation that streams events. DynamoDB, SQS, EventBridge and Secrets Manager have none. */
const eventStreams: Plugin = {
  name: 'event-streams',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ path }) => ({ path, namespace: 'event-streams' }));
    onLoad({ filter: /.*/, namespace: 'event-streams' }, () => ({
      contents: `throw new Error('event streams are left out of the bundle');`,
    }));
  },
};

/** Stripe's test helpers work in test mode only; the classes stay, without their methods. */
const testHelpers: Plugin = {
  name: 'test-helpers',
  setup: ({ onLoad }) => {
    onLoad({ filter: /stripe\/esm\/resources\/TestHelpers\/.*\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const names = [...source.matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
      return { contents: names.map((name) => `export class ${name} {}`).join('\n') };
    });
  },
};
