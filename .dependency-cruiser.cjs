// Imports run one way: shared/ <- functions <- infra, test; and within each area down the list of floors.json.

const floors = require('./floors.json');

const DYNAMODB = '(^|/)node_modules/@aws-sdk/(client-dynamodb|lib-dynamodb|util-dynamodb)/';

/** A floor imports itself and the floors below it: never up, never sideways within its row. */
const floorRules = Object.entries(floors).flatMap(([area, rows]) =>
  rows.flatMap((row, at) =>
    [row].flat().map((own) => ({
      name: `floor-${area}-${own}`.replaceAll('/', '-'),
      comment: 'floors.json lists the floors from the ground up; an import runs down that list',
      severity: 'error',
      from: { path: `^${area}/${own}/[^/]+$` },
      to: { path: `^${area}/`, pathNot: `^${area}/(${[...rows.slice(0, at).flat(), own].join('|')})/[^/]+$` },
    })),
  ),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...floorRules,
    {
      name: 'shared-is-hosted',
      comment: 'shared/ knows neither its entries nor its hosts',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(functions|infra|test)/' },
    },
    {
      name: 'functions-are-hosted',
      comment: 'an entry knows neither the hosts nor the tests',
      severity: 'error',
      from: { path: '^functions/' },
      to: { path: '^(infra|test)/' },
    },
    {
      name: 'entries-are-no-library',
      comment:
        'an entry imports declarations and shared/, never another entry; functions/api alone reads the catalogue',
      severity: 'error',
      from: { path: '^functions/', pathNot: '(^functions/api/[a-z]+|/[a-z-]*(endpoints|triggers))\\.ts$' },
      to: { path: '^functions/', pathNot: '(^functions/api/document|/[a-z-]*(endpoints|triggers))\\.ts$' },
    },
    {
      name: 'infra-reads-declarations',
      comment: 'hosts load entries by their id; they import declarations, and the document made of them',
      severity: 'error',
      from: { path: '^infra/' },
      to: { path: '^functions/', pathNot: '(^functions/api/(catalogue|document)|/[a-z-]*(endpoints|triggers))\\.ts$' },
    },
    {
      name: 'nothing-imports-test',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: '^test/' },
    },
    {
      name: 'simulator-judges-for-itself',
      comment:
        "the simulator's rules of currencies and amounts share nothing with the adapters', so that a mistake shows",
      severity: 'error',
      from: { path: '^infra/local/simulator/' },
      to: { path: '^shared/', pathNot: '^shared/core/settings\\.ts$' },
    },
    {
      name: 'deployment-without-local',
      comment:
        'what is deployed knows nothing of the local host, and the other way round; payctl works on both, docs tell of both',
      severity: 'error',
      from: { path: '^infra/', pathNot: '^infra/(local|payctl|docs)/' },
      to: { path: '^infra/local/' },
    },
    {
      name: 'local-without-deployment',
      severity: 'error',
      from: { path: '^infra/local/' },
      to: { path: '^infra/', pathNot: '^infra/local/' },
    },
    {
      name: 'local-without-cdk',
      severity: 'error',
      from: { path: '^infra/local/' },
      to: { path: '(^|/)node_modules/(aws-cdk-lib|constructs|cdk-nag)/' },
    },
    {
      name: 'stores-are-private',
      comment:
        "a resource may import another's domain file or use case, never its store; removal deletes what stores hold",
      severity: 'error',
      from: { path: '^shared/([^/]+)/', pathNot: '^shared/removal/' },
      to: { path: '^shared/[^/]+/store\\.ts$', pathNot: '^shared/$1/' },
    },
    {
      name: 'adapters-behind-the-port',
      comment: 'provider.ts is the port and registry.ts its only way to an adapter',
      severity: 'error',
      from: { path: '^(shared|functions)/', pathNot: '^shared/providers/' },
      to: { path: '^shared/providers/(stripe|paypal|square|braintree)/' },
    },
    {
      name: 'adapters-answer-outcomes',
      comment: 'an adapter is bundled apart: an error class of ours would be another class there',
      severity: 'error',
      from: { path: '^shared/providers/(port|wire|stripe|paypal|square|braintree)/' },
      to: { path: '^shared/core/errors\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one-door-to-the-table',
      comment: 'only shared/table speaks to DynamoDB',
      severity: 'error',
      from: { path: '^(shared|functions)/', pathNot: '^shared/table/' },
      to: { path: DYNAMODB },
    },
    {
      name: 'core-is-pure',
      comment: 'core knows no SDK and no input or output',
      severity: 'error',
      from: { path: '^shared/core/' },
      to: {
        dependencyTypes: ['npm', 'core'],
        pathNot: '(^|/)node_modules/(zod|temporal-polyfill)/|^(node:)?crypto$',
      },
    },
    {
      name: 'no-dev-dependency',
      comment: 'what is deployed needs no devDependency, types apart',
      severity: 'error',
      from: { path: '^(shared|functions)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
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
