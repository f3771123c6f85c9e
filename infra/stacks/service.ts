import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import { asOperated, type Trigger } from '../../shared/workers/trigger.ts';
import type { DeploymentSettings } from '../settings.ts';
import { ApiStack, byGroup, RoutesStack } from './api.ts';
import { DataStack } from './data.ts';
import { EventsStack } from './events.ts';
import { FrontStack } from './front.ts';

export interface ServiceProps {
  readonly settings: DeploymentSettings;
  /** The folder of the bundles. */
  readonly codeDir: string;
  readonly endpoints: readonly Endpoint[];
  readonly triggers: readonly Trigger[];
  /** The function that answers what no route matches. */
  readonly defaultId: string;
}

/** The whole service as stacks, in the order of their deployment: data, api, events, the groups of routes, front. */
export const addService = (app: App, { settings, codeDir, endpoints, triggers, defaultId }: ServiceProps): void => {
  const { stage } = settings;
  const { kept } = new DataStack(app, settings);
  const apiStack = new ApiStack(app, settings);
  const { api } = apiStack;
  const shared = {
    ...kept,
    codeDir,
    production: stage === 'prod',
    environment: { ...settings.environment, PUBLIC_BASE_URL: apiStack.baseUrl },
  };
  const { queues } = new EventsStack(app, {
    stage,
    triggers: asOperated(triggers, settings.operated),
    context: shared,
  });
  const context = { ...shared, queues };
  apiStack.answerTheRest(context, defaultId);
  const front = new FrontStack(app, { settings, api, endpoints });
  for (const [group, members] of byGroup(endpoints)) {
    front.addStackDependency(new RoutesStack(app, { stage, group, endpoints: members, api, context }));
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app, { verbose: true }));
};
