import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, PCIDSS321Checks, ServerlessChecks } from 'cdk-nag';
import { type Endpoint, installedEndpoints } from '../../shared/http/endpoint.ts';
import { type Trigger, withOperatorSettings } from '../../shared/platform/trigger.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import { ApiStack, byGroup, RoutesStack } from './api.ts';
import { DataStack } from './data.ts';
import { EventsStack } from './events.ts';
import { FrontStack } from './front.ts';
import { OperationsStack } from './operations.ts';

export interface ServiceProps {
  readonly settings: DeploymentSettings;
  /** The folder of the bundles. */
  readonly codeDir: string;
  readonly endpoints: readonly Endpoint[];
  readonly triggers: readonly Trigger[];
  /** The function that serves requests without a matching route. */
  readonly defaultId: string;
}

/** The whole service as stacks, deployed in the order data, api, events, the groups of routes, operations, front. */
export const addService = (app: App, { settings, codeDir, triggers, defaultId, ...declared }: ServiceProps): void => {
  const { stage } = settings;
  const endpoints = installedEndpoints(declared.endpoints, { CONSOLE: settings.console });
  const { kept } = new DataStack(app, settings);
  const apiStack = new ApiStack(app, settings, kept);
  const { api } = apiStack;
  const shared = {
    ...kept,
    codeDir,
    settings,
    undone: apiStack.undone,
    environment: { ...settings.environment, PUBLIC_BASE_URL: apiStack.baseUrl },
  };
  const { queues, deadLetters, readers, jobs, consumers } = new EventsStack(app, {
    stage,
    triggers: withOperatorSettings(triggers, settings.operated),
    context: shared,
  });
  const context = { ...shared, queues };
  apiStack.answerTheRest(context, defaultId);
  const front = new FrontStack(app, { settings, api, key: kept.key, endpoints });
  const routes = [...byGroup(endpoints)].map(
    ([group, members]) => new RoutesStack(app, { stage, group, endpoints: members, api, context }),
  );
  const urls = new Map(routes.flatMap((stack) => [...stack.urls]));
  const operations = new OperationsStack(app, {
    stage,
    kept,
    api,
    urls,
    queues,
    deadLetters,
    undone: apiStack.undone,
    readers,
    jobs,
    consumers,
    probed: settings.operated.HEALTH_CHECK,
  });
  // The front is deployed last, so callers find every route and its alarms exist.
  for (const stack of [...routes, operations]) front.addStackDependency(stack);
  Validations.of(app).addPlugins(...packs(app));
};

/** The rule packs that must have no open finding. */
export const packs = (app: App) => [
  new AwsSolutionsChecks(app, { verbose: true }),
  new ServerlessChecks(app, { verbose: true }),
  new PCIDSS321Checks(app, { verbose: true }),
];
