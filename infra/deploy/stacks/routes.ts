/** @module The functions and routes of endpoints, and their assignment to the two API stacks. */
import type { IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import type { ServiceContext } from '../constructs/context.ts';
import { EndpointFunction, hasOwnUrl } from '../constructs/endpoint-function.ts';
import { SharedRoles } from '../constructs/function-roles.ts';
import { canariesOf } from '../constructs/live-version.ts';
import { constructId } from '../constructs/service-function.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import { apiIn, baseUrlIn, functionValue, keptIn, queuesIn, undoneIn } from './references.ts';
import { ServiceStack } from './service-stack.ts';

/**
 * The name part of the stack with the receivers of provider events. The receivers stay in this stack, because their
 * URLs must not change. The stack also has the endpoints for operators and the endpoints that send to a queue. It is
 * deployed after the queues.
 */
export const OPERATOR_ROUTES = 'api-webhooks';

/**
 * The folders of the endpoints in the stack `api-webhooks`. All other folders are in the stack `api`. In version 0.2.0,
 * these folders were in `api-webhooks`, in stacks deployed after it, or in no stack. So a rollback to 0.2.0 creates no
 * duplicate route.
 */
const OPERATOR_FOLDERS: readonly string[] = ['webhooks', 'admin', 'api', 'console', 'payment-links'];

/** The name part of the endpoint's stack. */
export const routesPart = (endpoint: Pick<Endpoint, 'id'>): 'api' | typeof OPERATOR_ROUTES =>
  OPERATOR_FOLDERS.includes(routeGroupOf(endpoint)) ? OPERATOR_ROUTES : 'api';

/** The folder of the endpoint's entry, such as `payments` for `payments.get`. */
export const routeGroupOf = ({ id }: Pick<Endpoint, 'id'>): string => id.split('.')[0] ?? id;

export interface RoutesProps {
  readonly context: ServiceContext;
  readonly api: IHttpApi;
  readonly endpoints: readonly Endpoint[];
  readonly logGroup: ILogGroup;
  readonly roles: SharedRoles;
}

/** @returns the function of each endpoint. */
export const addRoutes = (
  scope: Construct,
  { context, api, endpoints, logGroup, roles }: RoutesProps,
): ReadonlyMap<Endpoint, EndpointFunction> => {
  const { settings, kept } = context;
  const hasCanaries = settings.canary && endpoints.some(({ paymentPath }) => paymentPath);
  const canaries = hasCanaries ? canariesOf(scope, { apiId: api.apiId, alarms: kept.alarms }) : undefined;
  return new Map(
    endpoints.map((endpoint) => [
      endpoint,
      new EndpointFunction(scope, constructId(endpoint.id), { context, api, endpoint, logGroup, roles, canaries }),
    ]),
  );
};

export interface OperatorRoutesStackProps {
  readonly settings: DeploymentSettings;
  readonly codeDir: string;
  readonly endpoints: readonly Endpoint[];
  readonly triggers: readonly Trigger[];
}

export class OperatorRoutesStack extends ServiceStack {
  constructor(scope: Construct, { settings, codeDir, endpoints, triggers }: OperatorRoutesStackProps) {
    const { stage } = settings;
    super(scope, { stage, part: OPERATOR_ROUTES, description: 'Payments: routes of providers and operators' });
    const kept = keptIn(this, stage);
    const context: ServiceContext = {
      kept,
      codeDir,
      settings,
      undone: undoneIn(this),
      queues: queuesIn(this, triggers),
      environment: { ...settings.environment, PUBLIC_BASE_URL: baseUrlIn(this, settings) },
    };
    const logGroup = this.logGroup('Logs', { encryptionKey: kept.key, days: settings.logDays });
    const roles = new SharedRoles(this, 'Roles', { context, logGroup });
    const routes = addRoutes(this, { context, api: apiIn(this), endpoints, logGroup, roles });
    for (const [endpoint, { functionName }] of routes) {
      if (hasOwnUrl(endpoint, settings)) this.share({ [functionValue(endpoint.id)]: functionName });
    }
  }
}
