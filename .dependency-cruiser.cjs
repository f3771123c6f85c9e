// infra and test import functions, functions imports shared; within each area imports follow the floors of floors.json.

const floors = require('./floors.json');

const DYNAMODB = '(^|/)node_modules/@aws-sdk/(client-dynamodb|lib-dynamodb|util-dynamodb)/';

/** A folder imports itself and the floors below it; it may not import a higher floor or its own neighbours. */
const floorRules = Object.entries(floors).flatMap(([area, rows]) =>
  rows.flatMap((row, at) =>
    [row].flat().map((own) => ({
      name: `floor-${area}-${own}`.replaceAll('/', '-'),
      comment: 'a folder may import only itself and the floors before it in floors.json',
      severity: 'error',
      from: { path: `^${area}/${own}/` },
      to: { path: `^${area}/`, pathNot: `^${area}/(${[...rows.slice(0, at).flat(), own].join('|')})/` },
    })),
  ),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...floorRules,
    {
      name: 'shared-is-hosted',
      comment: 'shared/ may not import the entries, the hosts or the tests',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(functions|infra|test)/' },
    },
    {
      name: 'functions-are-hosted',
      comment: 'functions/ may not import the hosts or the tests',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^(infra|test)/' },
    },
    {
      name: 'entries-are-no-library',
      comment: 'an entry imports declarations and shared/, never another entry; only functions/api reads the catalogue',
      severity: 'error',
      from: {
        path: '^functions/',
        pathNot: '(^functions/api/[a-z]+|/[a-z-]*(endpoints|triggers))\\.ts$|^functions/(console|pay-page)/web/',
      },
      to: {
        path: '^functions/',
        pathNot: '(^functions/api/document|^functions/(console|pay-page)/bundle|/[a-z-]*(endpoints|triggers))\\.ts$',
      },
    },
    {
      name: 'console-is-a-client',
      comment:
        'the console runs in browsers and calls the public API: of the service it imports only shared/core/money and the scopes with their texts',
      severity: 'error',
      from: { path: '^functions/console/web/' },
      to: {
        path: '^(shared|infra|test|functions)/',
        pathNot: '^functions/console/web/|^shared/(core/money|access/scopes|access/scope-texts)\\.ts$',
      },
    },
    {
      name: 'hosted-page-is-a-client',
      comment:
        'the hosted page runs in browsers and calls the public API: of the service it imports only shared/core/money',
      severity: 'error',
      from: { path: '^functions/pay-page/web/' },
      to: { path: '^(shared|infra|test|functions)/', pathNot: '^functions/pay-page/web/|^shared/core/money\\.ts$' },
    },
    {
      name: 'infra-reads-declarations',
      comment: 'hosts load entries by id; they import declarations, and the API document built from them',
      severity: 'error',
      from: { path: '^infra/' },
      to: {
        path: '^functions/',
        pathNot:
          '(^functions/api/(catalogue|document)|^functions/(console|pay-page)/bundle|/[a-z-]*(endpoints|triggers))\\.ts$',
      },
    },
    {
      name: 'nothing-imports-test',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: '^test/' },
    },
    {
      name: 'simulator-judges-for-itself',
      comment: "the simulator has its own rules for currencies and amounts, so that it detects an adapter's mistake",
      severity: 'error',
      from: { path: '^infra/simulator/' },
      to: { path: '^shared/', pathNot: '^shared/core/settings\\.ts$' },
    },
    {
      name: 'deployment-without-local',
      comment: 'the deployment and the local host may not import each other; payctl and make may import both',
      severity: 'error',
      from: { path: '^infra/', pathNot: '^infra/(local|simulator|payctl|make)/' },
      to: { path: '^infra/(local|simulator)/' },
    },
    {
      name: 'local-without-deployment',
      severity: 'error',
      from: { path: '^infra/local/' },
      to: { path: '^infra/', pathNot: '^infra/(local|simulator)/' },
    },
    {
      name: 'simulator-without-host',
      comment: 'the simulator imports only the clock, the disk and the database of the machine',
      severity: 'error',
      from: { path: '^infra/simulator/' },
      to: { path: '^infra/', pathNot: '^infra/(simulator|local/machine)/' },
    },
    {
      name: 'local-without-cdk',
      severity: 'error',
      from: { path: '^infra/(local|simulator)/' },
      to: { path: '(^|/)node_modules/(aws-cdk-lib|constructs|cdk-nag)/' },
    },
    {
      name: 'stores-are-private',
      comment:
        "a resource may not import another's store; only queries, removal, webhooks and hosted-pages work across resources",
      severity: 'error',
      from: { path: '^shared/([^/]+)/', pathNot: '^shared/(queries|removal|webhooks|hosted-pages)/' },
      to: { path: '^shared/.*/(payment|refund|subscription|organization)-store\\.ts$', pathNot: '^shared/$1/' },
    },
    {
      name: 'adapters-behind-the-port',
      comment: 'only providers/registry.ts loads an adapter; other code uses the interface in providers/provider.ts',
      severity: 'error',
      from: {
        path: '^(shared|functions)/',
        pathNot: '^shared/providers/(registry\\.ts$|(stripe|paypal|square|braintree)/)',
      },
      to: { path: '^shared/providers/(stripe|paypal|square|braintree)/' },
    },
    {
      name: 'adapters-know-no-other',
      comment: 'an adapter may not import another adapter, nor what chooses between them',
      severity: 'error',
      from: { path: '^shared/providers/(stripe|paypal|square|braintree)/' },
      to: {
        path: '^shared/providers/((stripe|paypal|square|braintree)/|(call-rate|provider-deps|registry|unwrap)\\.ts$)',
        pathNot: '^shared/providers/$1/',
      },
    },
    {
      name: 'adapters-answer-outcomes',
      comment: 'adapters are separate bundles, so instanceof fails for our error classes: adapters return outcomes',
      severity: 'error',
      from: {
        path: '^shared/providers/',
        pathNot: '^shared/providers/(call-rate|provider-deps|registry|unwrap)\\.ts$',
      },
      to: { path: '^shared/core/errors\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one-door-to-the-table',
      comment:
        'only the table in shared/platform, its stream images and the opening of clients may use the DynamoDB SDK',
      severity: 'error',
      from: {
        path: '^(shared|functions)/',
        pathNot: '^shared/platform/(aws-clients|dynamo-[a-z]+|stream-images)\\.ts$',
      },
      to: { path: DYNAMODB },
    },
    {
      name: 'core-is-pure',
      comment: 'core may not use an SDK, input or output; async_hooks carries the actor of the current work',
      severity: 'error',
      from: { path: '^shared/core/' },
      to: {
        dependencyTypes: ['npm', 'core'],
        pathNot: '(^|/)node_modules/(zod|temporal-polyfill)/|^(node:)?(crypto|async_hooks)$',
      },
    },
    {
      name: 'no-dev-dependency',
      comment:
        'deployed code, the local host and payctl beside it may not need a devDependency, except for types; only a deployed stage needs more',
      severity: 'error',
      from: { path: '^(shared|functions|infra/(local|payctl))/', pathNot: '^infra/payctl/installation/stage' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'resolvable',
      comment: 'what the benchmarks compare with has packages of its own, which they install when they need them',
      severity: 'error',
      from: { pathNot: '^test/bench/peers/' },
      to: { couldNotResolve: true },
    },
    {
      name: 'no-cycle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: '(^|/)node_modules/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
