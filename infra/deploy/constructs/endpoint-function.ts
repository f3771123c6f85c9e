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
import type { ServiceContext } from './context.ts';
import type { SharedRoles } from './function-roles.ts';
import { type Canaries, LiveVersion } from './live-version.ts';
import { constructId, ServiceFunction } from './service-function.ts';

export interface EndpointFunctionProps {
  readonly context: ServiceContext;
  readonly api: IHttpApi;
  readonly endpoint: Endpoint;
  readonly logGroup: ILogGroup;
  readonly roles: SharedRoles;
  /** If undefined, new versions get all requests immediately. */
  readonly canaries: Canaries | undefined;
}

export const hasOwnUrl = ({ auth }: Endpoint, { functionUrls }: Pick<DeploymentSettings, 'functionUrls'>): boolean =>
  auth === 'provider-signature' && functionUrls;

/**
 * The function and the route of one endpoint. If function URLs are on, a provider's webhook also has its own URL. The
 * throttle of other callers does not affect this URL.
 */
export class EndpointFunction extends Construct {
  readonly functionName: string;

  constructor(scope: Construct, id: string, props: EndpointFunctionProps) {
    super(scope, id);
    const { context, api, endpoint, logGroup, roles } = props;
    const { settings } = context;
    const reserved = reservedForEndpoint(endpoint, settings.bulkheads);
    const { lambda } = new ServiceFunction(this, 'Handler', { context, spec: endpoint, logGroup, roles, reserved });
    this.functionName = lambda.functionName;
    const canaries = endpoint.paymentPath ? props.canaries : undefined;
    const isWarm = settings.provisioned.includes(endpoint.id);
    const name = endpoint.id.replaceAll('.', '-');
    const served =
      canaries || isWarm
        ? new LiveVersion(this, 'Canary', { lambda, canaries, isWarm, name, tableInUse: settings.tableInUse }).alias
        : lambda;
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
