// Imports run one way: core <- what knows no resource <- resources <- functions <- infra, test.

/** Folders of shared/ from the innermost out. A folder imports those before it and, where `peers`, its own row. */
const LAYERS = [
  { folders: ['core/', 'settings\\.ts$'] },
  { folders: ['table/', 'events/', 'observability/', 'identity/'] },
  { folders: ['idempotency/', 'access/'] },
  { folders: ['http/'] },
  { folders: ['[a-z-]+/'], peers: true },
  { folders: ['runtime\\.ts$'] },
];

const inShared = (folders) => `^shared/(${folders.join('|')})`;
const inner = (index) => LAYERS.slice(0, index).flatMap(({ folders }) => folders);
const DYNAMODB = '(^|/)node_modules/@aws-sdk/(client-dynamodb|lib-dynamodb|util-dynamodb)/';

const layerRules = LAYERS.flatMap(({ folders, peers }, index) =>
  (peers ? [folders] : folders.map((folder) => [folder])).map((own) => ({
    name: `one-way-${own[0].replace(/\W.*$/, '') || 'resources'}`,
    comment: 'shared/ is layered: an inner folder knows nothing of an outer one',
    severity: 'error',
    from: { path: inShared(own), pathNot: peers ? inShared(inner(index)) : undefined },
    to: { path: '^(shared|functions|infra|test)/', pathNot: inShared([...inner(index), ...own]) },
  })),
);

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...layerRules,
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
        'an entry imports declarations and shared/, never another entry; default.ts and document.ts alone read the catalogue',
      severity: 'error',
      from: { path: '^functions/', pathNot: '(^functions/(catalogue|default|document)|/(endpoints|triggers))\\.ts$' },
      to: { path: '^functions/', pathNot: '(^functions/document|/(endpoints|triggers))\\.ts$' },
    },
    {
      name: 'infra-reads-declarations',
      comment: 'hosts load entries by their id; they import declarations, and the document made of them',
      severity: 'error',
      from: { path: '^infra/' },
      to: { path: '^functions/', pathNot: '(^functions/(catalogue|document)|/(endpoints|triggers))\\.ts$' },
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
      to: { path: '^shared/', pathNot: '^shared/settings\\.ts$' },
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
      comment: "a resource may import another's domain file or use case, never its store",
      severity: 'error',
      from: { path: '^shared/([^/]+)/' },
      to: { path: '^shared/[^/]+/store\\.ts$', pathNot: '^shared/$1/' },
    },
    {
      name: 'adapters-behind-the-port',
      comment: 'provider.ts is the port and registry.ts its only way to an adapter',
      severity: 'error',
      from: { path: '^(shared|functions)/', pathNot: '^shared/providers/' },
      to: { path: '^shared/providers/[^/]+/' },
    },
    {
      name: 'adapters-know-no-other',
      severity: 'error',
      from: { path: '^shared/providers/([^/]+)/' },
      to: { path: '^shared/providers/[^/]+/', pathNot: '^shared/providers/$1/' },
    },
    {
      name: 'adapters-answer-outcomes',
      comment: 'an adapter is bundled apart: an error class of ours would be another class there',
      severity: 'error',
      from: { path: '^shared/providers/[^/]+/' },
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
