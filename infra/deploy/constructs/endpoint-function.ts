import { CfnOutput } from 'aws-cdk-lib';
import { HttpMethod, HttpRoute, HttpRouteKey, type IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import { acknowledge } from '../stage/acknowledged.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import { reservedForEndpoint } from './bulkheads.ts';
import { type Canaries, Canary } from './canary.ts';
import type { ServiceContext } from './context.ts';
import { constructId, ServiceFunction } from './service-function.ts';

export interface EndpointFunctionProps {
  readonly context: ServiceContext;
  readonly api: IHttpApi;
  readonly endpoint: Endpoint;
  readonly logGroup: ILogGroup;
  /** If undefined, new versions get all requests immediately. */
  readonly canaries: Canaries | undefined;
}

export const hasOwnUrl = ({ auth }: Endpoint, { functionUrls }: Pick<DeploymentSettings, 'functionUrls'>): boolean =>
  auth === 'provider-signature' && functionUrls;

/**
 * The function and the route of one endpoint. A provider's webhook also has a URL that the throttle of other callers
 * cannot affect.
 */
export class EndpointFunction extends Construct {
  readonly functionName: string;

  constructor(scope: Construct, id: string, { context, api, endpoint, logGroup, canaries }: EndpointFunctionProps) {
    super(scope, id);
    const { settings } = context;
    const reserved = reservedForEndpoint(endpoint, settings.bulkheads);
    const { lambda } = new ServiceFunction(this, 'Handler', { context, spec: endpoint, logGroup, reserved });
    const isShifted = canaries !== undefined && endpoint.paymentPath;
    this.functionName = lambda.functionName;
    const name = endpoint.id.replaceAll('.', '-');
    const { tableInUse } = settings;
    const served = isShifted ? new Canary(this, 'Canary', { lambda, canaries, name, tableInUse }).alias : lambda;
    new HttpRoute(this, 'Route', {
      httpApi: api,
      routeKey: HttpRouteKey.with(endpoint.path, HttpMethod[endpoint.method]),
      integration: new HttpLambdaIntegration('Integration', served),
    });
    acknowledge(this, 'AwsSolutions-APIG4');
    if (hasOwnUrl(endpoint, settings)) {
      acknowledge(lambda, 'PCI.DSS.321-LambdaFunctionPublicAccessProhibited');
      const { url } = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
      new CfnOutput(this, 'Url', { key: `${constructId(endpoint.id)}Url`, value: url, description: endpoint.summary });
    }
  }
}
