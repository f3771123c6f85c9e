import { CfnOutput, Duration } from 'aws-cdk-lib';
import { CorsHttpMethod, HttpApi, HttpRoute, HttpRouteKey, type IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { MEMORY_MB } from '../../shared/core/rights.ts';
import { CORS } from '../../shared/http/cors.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import { canariesOf } from '../constructs/canary.ts';
import type { KeptResources, ServiceContext } from '../constructs/context.ts';
import { EndpointFunction } from '../constructs/endpoint-function.ts';
import { constructId, ServiceFunction } from '../constructs/service-function.ts';
import { UndoneInvocations } from '../constructs/undone-invocations.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import type { DeploymentSettings, Stage } from '../stage/settings.ts';
import { ServiceStack } from './service-stack.ts';

/** The HTTP API with its default route and without a stage, and the resources that every function needs. */
export class ApiStack extends ServiceStack {
  readonly api: IHttpApi;
  readonly baseUrl: string;
  readonly undone: Queue;

  constructor(scope: Construct, settings: DeploymentSettings, kept: Pick<KeptResources, 'alarms'>) {
    const { stage, alarmEmail, allowedOrigins, customDomain, basePath, publicBaseUrl } = settings;
    super(scope, { stage, part: 'api', description: 'Payments: HTTP API' });
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
    this.api = HttpApi.fromHttpApiAttributes(this, 'Reference', { httpApiId: api.apiId });
    const ownUrl = customDomain === '' ? api.apiEndpoint : `https://${customDomain}${basePath}`;
    this.baseUrl = publicBaseUrl || ownUrl;
    new CfnOutput(this, 'BaseUrl', { value: this.baseUrl });
    this.undone = new UndoneInvocations(this, 'Undone', { alarms: kept.alarms, alarmEmail }).queue;
  }

  /** The `$default` route. */
  answerTheRest(context: ServiceContext, id: string): void {
    const { lambda } = new ServiceFunction(this, 'NoRoute', {
      context,
      spec: {
        id,
        summary: 'Responds to requests that match no route',
        uses: [],
        timeoutSeconds: 5,
        memoryMb: MEMORY_MB.background,
      },
      logGroup: this.logGroup('Logs', { encryptionKey: context.key, days: context.settings.logDays }),
    });
    const route = new HttpRoute(this, 'NoRouteMatch', {
      httpApi: this.api,
      routeKey: HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration('Integration', lambda),
    });
    acknowledge(route, 'AwsSolutions-APIG4');
  }
}

export interface RoutesStackProps {
  readonly stage: Stage;
  /** The folder of the group's entries. */
  readonly group: string;
  readonly endpoints: readonly Endpoint[];
  readonly api: IHttpApi;
  readonly context: ServiceContext;
}

/** The endpoints of one group of resources. A stack per group stays within CloudFormation's 500 resources per stack. */
export class RoutesStack extends ServiceStack {
  /** Names of the functions that have their own URL, by endpoint id. */
  readonly urls: ReadonlyMap<string, string>;

  constructor(scope: Construct, { stage, group, endpoints, api, context }: RoutesStackProps) {
    super(scope, { stage, part: `api-${group}`, description: `Payments: routes of ${group}` });
    const { settings, alarms } = context;
    const logGroup = this.logGroup('Logs', { encryptionKey: context.key, days: settings.logDays });
    const hasCanaries = settings.canary && endpoints.some(({ paymentPath }) => paymentPath);
    const canaries = hasCanaries ? canariesOf(this, { group, apiId: api.apiId, alarms }) : undefined;
    this.urls = new Map(
      endpoints.flatMap((endpoint) => {
        const { reachedByUrl } = new EndpointFunction(this, constructId(endpoint.id), {
          context,
          api,
          endpoint,
          logGroup,
          canaries,
        });
        return reachedByUrl === undefined ? [] : [[endpoint.id, reachedByUrl]];
      }),
    );
  }
}

/** Groups endpoints by the folder of their entries, such as `payments.get` under `payments`. */
export const byGroup = (endpoints: readonly Endpoint[]): ReadonlyMap<string, readonly Endpoint[]> =>
  Map.groupBy(endpoints, ({ id }) => id.split('.')[0] ?? id);
