import { CfnOutput, Duration } from 'aws-cdk-lib';
import { CfnApi, CorsHttpMethod, HttpApi, HttpRoute, HttpRouteKey, type IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { MEMORY_MB } from '../../../shared/core/rights.ts';
import { CORS } from '../../../shared/http/cors.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import type { ServiceContext } from '../constructs/context.ts';
import { SharedRoles } from '../constructs/function-roles.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { UndoneInvocations } from '../constructs/undone-invocations.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import { configuredBaseUrl, keptIn } from './references.ts';
import { addRoutes } from './routes.ts';
import { ServiceStack } from './service-stack.ts';

export interface ApiStackProps {
  readonly settings: DeploymentSettings;
  readonly codeDir: string;
  /** The function that serves requests without a matching route. */
  readonly defaultId: string;
  readonly endpoints: readonly Endpoint[];
}

/**
 * The HTTP API without a stage, the routes of payers and of a shop's backend, the default route, and the queue of
 * permanently failed invocations. The stack is deployed before the queues, so its functions cannot send to a queue.
 */
export class ApiStack extends ServiceStack {
  constructor(scope: Construct, { settings, codeDir, defaultId, endpoints }: ApiStackProps) {
    const { stage, alarmEmail, allowedOrigins, customDomain } = settings;
    super(scope, { stage, part: 'api', description: 'Payments: HTTP API' });
    const kept = keptIn(this, stage);
    const api = new HttpApi(this, 'Api', {
      apiName: `payments-${stage}`,
      createDefaultStage: false,
      // With a custom domain, disable the API's own address, so that no caller can bypass the proxy in front of the
      // domain.
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
    const reference = HttpApi.fromHttpApiAttributes(this, 'Reference', { httpApiId: api.apiId });
    const context: ServiceContext = {
      kept,
      codeDir,
      settings,
      undone: Queue.fromQueueArn(this, 'UndoneReference', queue.queueArn),
      queues: new Map(),
      environment: { ...settings.environment, PUBLIC_BASE_URL: baseUrl },
    };
    const logGroup = this.logGroup('Logs', { encryptionKey: kept.key, days: settings.logDays });
    const roles = new SharedRoles(this, 'Roles', { context, logGroup });
    this.#answerTheRest(reference, defaultId, { context, logGroup, roles });
    addRoutes(this, { context, api: reference, endpoints, logGroup, roles });
  }

  /** The `$default` route. */
  #answerTheRest(httpApi: IHttpApi, id: string, { context, logGroup, roles }: DefaultFunction): void {
    const { lambda } = new ServiceFunction(this, 'NoRoute', {
      context,
      spec: {
        id,
        summary: 'Responds to requests that match no route',
        uses: [],
        timeoutSeconds: 5,
        memoryMb: MEMORY_MB.background,
      },
      logGroup,
      roles,
    });
    const route = new HttpRoute(this, 'NoRouteMatch', {
      httpApi,
      routeKey: HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration('Integration', lambda),
    });
    acknowledge(route, 'AwsSolutions-APIG4');
  }
}

interface DefaultFunction {
  readonly context: ServiceContext;
  readonly logGroup: ILogGroup;
  readonly roles: SharedRoles;
}

/**
 * The API's own address. It is read from the resource, because CDK's property throws if a custom domain disables the
 * address.
 */
const endpointOf = ({ node: { defaultChild } }: HttpApi): string => {
  if (!(defaultChild instanceof CfnApi)) throw new Error('an HTTP API has no resource');
  return defaultChild.attrApiEndpoint;
};
