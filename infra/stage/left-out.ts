import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * What bundles leave out of the packages that they hold: over 400 KB that no function can reach. Each has to be unreachable
 * by its nature, not by our habits, because the local host runs the packages whole and would not notice.
 */
export const leftOut: Plugin = {
  name: 'left-out',
  setup: (build) => {
    const trims = [
      credentialChain,
      eventStreams,
      endpointCache,
      xmlWriter,
      jsonSchemas,
      unusedTools,
      unusedResources,
      unusedPackages,
    ];
    for (const trim of trims) trim.setup(build);
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

/** Of discovered endpoints, which DynamoDB's client looks for only where the environment asks it to; no function's does. */
const endpointCache: Plugin = {
  name: 'endpoint-cache',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^@aws-sdk\/endpoint-cache$/ }, ({ path }) => ({ path, namespace: 'endpoint-cache' }));
    onLoad({ filter: /.*/, namespace: 'endpoint-cache' }, () => ({ contents: 'export class EndpointCache {}' }));
  },
};

/** Braintree's SDK reads XML and writes JSON: what its parser's package brings to write XML is never called. */
const xmlWriter: Plugin = {
  name: 'xml-writer',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^xmlbuilder$/ }, ({ path }) => ({ path, namespace: 'xml-writer' }));
    onLoad({ filter: /.*/, namespace: 'xml-writer' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/** The API document is made before the bundles, so that no function writes a JSON schema of its own schemas. */
const jsonSchemas: Plugin = {
  name: 'json-schemas',
  setup: ({ onLoad }) => {
    onLoad({ filter: /zod[/\\]v4[/\\]core[/\\](?:to-json-schema|json-schema-processors)\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const names = [...source.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name);
      return {
        contents: [
          `const leftOut = () => { throw new Error('JSON schemas are left out of the bundle'); };`,
          'const methodLeftOut = () => leftOut;',
          `export { ${names.map((name) => `${name?.startsWith('create') ? 'methodLeftOut' : 'leftOut'} as ${name}`).join(', ')} };`,
        ].join('\n'),
      };
    });
  },
};

/** Zod's schemas import its tools as one object, which would hold every tool; imported as a module, only the used ones stay. */
const unusedTools: Plugin = {
  name: 'unused-tools',
  setup: ({ onLoad }) => {
    onLoad({ filter: /zod[/\\]v4[/\\]classic[/\\]schemas\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (!source.includes(TOOLS_OBJECT)) throw new Error(`${path} imports its tools in another way`);
      const contents = source.replace(TOOLS_OBJECT, TOOLS_MODULE).replaceAll('core.util.', 'util.');
      return { contents };
    });
  },
};

const TOOLS_OBJECT = 'import { util } from "../core/index.js"';
const TOOLS_MODULE = 'import * as util from "../core/util.js"';

/**
 * Stripe's SDK has a class a resource; those that the adapter never names keep their class without its methods. What it
 * names is read off its own source, so that nothing has to be remembered.
 */
const unusedResources: Plugin = {
  name: 'unused-resources',
  setup: ({ onLoad, onStart }) => {
    let used: ReadonlySet<string> = new Set();
    onStart(async () => {
      used = await resourcesNamed();
    });
    onLoad({ filter: /stripe\/esm\/resources\/.*\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const file = path.slice(path.lastIndexOf('/resources/') + '/resources/'.length, -'.js'.length);
      if (used.has(file)) return { contents: source, resolveDir: dirname(path) };
      const names = [...source.matchAll(/^export class (\w+)/gm)].map(([, name]) => name);
      return { contents: names.map((name) => `export class ${name} {}`).join('\n') };
    });
  },
};

const ADAPTER = resolve(import.meta.dirname, '../../shared/providers/stripe');

/** `stripe.paymentIntents.create(…)` names the file PaymentIntents. */
const resourcesNamed = async (): Promise<ReadonlySet<string>> => {
  const files = (await readdir(ADAPTER)).filter((file) => file.endsWith('.ts'));
  const sources = await Promise.all(files.map((file) => readFile(join(ADAPTER, file), 'utf8')));
  const names = sources.flatMap((source) =>
    [...source.matchAll(/\bstripe\s*\.(\w+)\s*\./g)].map(([, name]) => name ?? ''),
  );
  return new Set(names.map((name) => name.slice(0, 1).toUpperCase() + name.slice(1)));
};

/** Packages that do nothing when they are loaded and do not say so: a function that calls none of them holds none. */
const unusedPackages: Plugin = {
  name: 'unused-packages',
  setup: (build) => {
    build.onResolve(
      { filter: /^(ipaddr\.js|standardwebhooks|@aws-sdk\/lib-dynamodb)$/ },
      async ({ path, resolveDir, kind, pluginData }) => {
        if (pluginData === unusedPackages) return undefined;
        const resolved = await build.resolve(path, { resolveDir, kind, pluginData: unusedPackages });
        return { ...resolved, sideEffects: false };
      },
    );
  },
};
