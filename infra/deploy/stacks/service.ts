import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, PCIDSS321Checks, ServerlessChecks } from 'cdk-nag';
import { type Endpoint, installedEndpoints } from '../../../shared/http/endpoint.ts';
import { type Trigger, withOperatorSettings } from '../../../shared/platform/trigger.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import { ApiStack } from './api.ts';
import { DataStack } from './data.ts';
import { EventsStack } from './events.ts';
import { FrontStack } from './front.ts';
import { OperationsStack } from './operations.ts';
import { OPERATOR_ROUTES, OperatorRoutesStack, routesPart } from './routes.ts';

export interface ServiceProps {
  readonly settings: DeploymentSettings;
  /** The folder of the bundles. */
  readonly codeDir: string;
  readonly endpoints: readonly Endpoint[];
  readonly triggers: readonly Trigger[];
  /** The function that serves requests without a matching route. */
  readonly defaultId: string;
}

/**
 * All stacks of the service, deployed in the order data, api, events, api-webhooks, operations, front. Each reads
 * values of earlier stacks.
 */
export const addStacks = (app: App, { settings, codeDir, defaultId, ...declared }: ServiceProps): void => {
  const endpoints = installedEndpoints(declared.endpoints, {
    CONSOLE: settings.console,
    HOSTED_PAGES: settings.hostedPages,
  });
  const triggers = withOperatorSettings(declared.triggers, settings.operated);
  const inPart = (part: string) => endpoints.filter((endpoint) => routesPart(endpoint) === part);
  const stacks = [
    new DataStack(app, settings),
    new ApiStack(app, { settings, codeDir, defaultId, endpoints: inPart('api') }),
    new EventsStack(app, { settings, codeDir, triggers }),
    new OperatorRoutesStack(app, { settings, codeDir, endpoints: inPart(OPERATOR_ROUTES), triggers }),
    // Lists the alarms of all stacks above.
    new OperationsStack(app, { settings, endpoints, triggers }),
    // The front is deployed last, so all routes and alarms exist before callers arrive.
    new FrontStack(app, { settings, endpoints }),
  ];
  for (const [at, stack] of stacks.entries()) {
    const before = stacks[at - 1];
    if (before) stack.addStackDependency(before);
  }
};

/** Adds the stacks and the rule packs that check them. */
export const addService = (app: App, props: ServiceProps): void => {
  addStacks(app, props);
  Validations.of(app).addPlugins(...packs(app));
};

/** The rule packs. None may have an open finding. */
export const packs = (app: App) => [
  new AwsSolutionsChecks(app, { verbose: true }),
  new ServerlessChecks(app, { verbose: true }),
  new PCIDSS321Checks(app, { verbose: true }),
];
