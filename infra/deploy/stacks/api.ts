import { CfnOutput, Duration } from 'aws-cdk-lib';
import { CfnApi, CorsHttpMethod, HttpApi, HttpRoute, HttpRouteKey, type IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { MEMORY_MB } from '../../../shared/core/rights.ts';
import { CORS } from '../../../shared/http/cors.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import { canariesOf } from '../constructs/canary.ts';
import type { ServiceContext } from '../constructs/context.ts';
import { EndpointFunction, hasOwnUrl } from '../constructs/endpoint-function.ts';
import { constructId, ServiceFunction } from '../constructs/service-function.ts';
import { UndoneInvocations } from '../constructs/undone-invocations.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import { apiIn, baseUrlIn, configuredBaseUrl, functionValue, keptIn, queuesIn, undoneIn } from './references.ts';
import { ServiceStack } from './service-stack.ts';

export interface ApiStackProps {
  readonly settings: DeploymentSettings;
  readonly codeDir: string;
  /** The function that serves requests without a matching route. */
  readonly defaultId: string;
}

/** The HTTP API with its default route and without a stage, and the queue of the invocations that failed permanently. */
export class ApiStack extends ServiceStack {
  constructor(scope: Construct, { settings, codeDir, defaultId }: ApiStackProps) {
    const { stage, alarmEmail, allowedOrigins, customDomain } = settings;
    super(scope, { stage, part: 'api', description: 'Payments: HTTP API' });
    const kept = keptIn(this, stage);
    const api = new HttpApi(this, 'Api', {
      apiName: `payments-${stage}`,
      createDefaultStage: false,
      // With a custom domain, no caller can bypass the proxy in front of it.
      disableExecuteApiEndpoint: customDomain !== '',
      ...(allowedOrigins.length > 0 && {
        corsPreflight: {
          allowOrigins: [...allowedOrigins],
          allowMethods: CORS.methods.map((method) => CorsHttpMethod[method]),
          allowHeaders: [...CORS.requestHeaders],
          exposeHeaders: [...CORS.responseHeaders],
          maxAge: Duration.seconds(CORS.maxAgeSeconds),
        },
      }),
    });
    const endpoint = endpointOf(api);
    const baseUrl = configuredBaseUrl(settings) || endpoint;
    new CfnOutput(this, 'BaseUrl', { value: baseUrl });
    const { queue } = new UndoneInvocations(this, 'Undone', { alarms: kept.alarms, alarmEmail });
    this.share({ id: api.apiId, 'base-url': baseUrl, 'undone-arn': queue.queueArn });
    this.keepExports([api.apiId, endpoint, queue.queueArn, queue.queueName, queue.queueUrl]);
    this.#answerTheRest(HttpApi.fromHttpApiAttributes(this, 'Reference', { httpApiId: api.apiId }), defaultId, {
      kept,
      codeDir,
      settings,
      undone: Queue.fromQueueArn(this, 'UndoneReference', queue.queueArn),
      queues: new Map(),
      environment: { ...settings.environment, PUBLIC_BASE_URL: baseUrl },
    });
  }

  /** The `$default` route. */
  #answerTheRest(httpApi: IHttpApi, id: string, context: ServiceContext): void {
    const { lambda } = new ServiceFunction(this, 'NoRoute', {
      context,
      spec: {
        id,
        summary: 'Responds to requests that match no route',
        uses: [],
        timeoutSeconds: 5,
        memoryMb: MEMORY_MB.background,
      },
      logGroup: this.logGroup('Logs', { encryptionKey: context.kept.key, days: context.settings.logDays }),
    });
    const route = new HttpRoute(this, 'NoRouteMatch', {
      httpApi,
      routeKey: HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration('Integration', lambda),
    });
    acknowledge(route, 'AwsSolutions-APIG4');
  }
}

/** The API's own address, which a custom domain disables, but which an export may still name. */
const endpointOf = ({ node: { defaultChild } }: HttpApi): string => {
  if (!(defaultChild instanceof CfnApi)) throw new Error('an HTTP API has no resource');
  return defaultChild.attrApiEndpoint;
};

export interface RoutesStackProps {
  readonly settings: DeploymentSettings;
  readonly codeDir: string;
  /** The folder of the group's entries. */
  readonly group: string;
  readonly endpoints: readonly Endpoint[];
  readonly triggers: readonly Trigger[];
}

/** The endpoints of one group of resources. A stack per group stays within CloudFormation's 500 resources per stack. */
export class RoutesStack extends ServiceStack {
  constructor(scope: Construct, { settings, codeDir, group, endpoints, triggers }: RoutesStackProps) {
    const { stage } = settings;
    super(scope, { stage, part: routesPart(group), description: `Payments: routes of ${group}` });
    const kept = keptIn(this, stage);
    const api = apiIn(this);
    const context: ServiceContext = {
      kept,
      codeDir,
      settings,
      undone: undoneIn(this),
      queues: queuesIn(this, triggers),
      environment: { ...settings.environment, PUBLIC_BASE_URL: baseUrlIn(this, settings) },
    };
    const logGroup = this.logGroup('Logs', { encryptionKey: kept.key, days: settings.logDays });
    const hasCanaries = settings.canary && endpoints.some(({ paymentPath }) => paymentPath);
    const canaries = hasCanaries ? canariesOf(this, { group, apiId: api.apiId, alarms: kept.alarms }) : undefined;
    for (const endpoint of endpoints) {
      const { functionName } = new EndpointFunction(this, constructId(endpoint.id), {
        context,
        api,
        endpoint,
        logGroup,
        canaries,
      });
      if (hasOwnUrl(endpoint, settings)) this.share({ [functionValue(endpoint.id)]: functionName });
      if (endpoint.auth === 'provider-signature') this.keepExports([functionName]);
    }
  }
}

/** Groups endpoints by the folder of their entries, such as `payments.get` under `payments`. */
export const byGroup = (endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly Endpoint[]> =>
  Map.groupBy(endpoints, routeGroupOf);

export const routeGroupOf = ({ id }: Endpoint): string => id.split('.')[0] ?? id;
export const routesPart = (group: string): string => `api-${group}`;
