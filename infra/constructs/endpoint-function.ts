import { CfnOutput } from 'aws-cdk-lib';
import { HttpMethod, HttpRoute, HttpRouteKey, type IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import { acknowledge } from '../stage/acknowledged.ts';
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

/**
 * The function and the route of one endpoint. A provider's webhook also has a URL that the throttle of other callers
 * cannot affect.
 */
export class EndpointFunction extends Construct {
  /** The name of the endpoint's function, if the function has its own URL. */
  readonly reachedByUrl: string | undefined;

  constructor(scope: Construct, id: string, { context, api, endpoint, logGroup, canaries }: EndpointFunctionProps) {
    super(scope, id);
    const { settings } = context;
    const reserved = reservedForEndpoint(endpoint, settings.bulkheads);
    const { lambda } = new ServiceFunction(this, 'Handler', { context, spec: endpoint, logGroup, reserved });
    const isShifted = canaries !== undefined && endpoint.paymentPath;
    const name = endpoint.id.replaceAll('.', '-');
    new HttpRoute(this, 'Route', {
      httpApi: api,
      routeKey: HttpRouteKey.with(endpoint.path, HttpMethod[endpoint.method]),
      integration: isShifted
        ? new HttpLambdaIntegration('Integration', new Canary(this, 'Canary', { lambda, canaries, name }).alias)
        : new HttpLambdaIntegration('Integration', lambda),
    });
    acknowledge(this, 'AwsSolutions-APIG4');
    if (endpoint.auth === 'provider-signature' && settings.functionUrls) {
      acknowledge(lambda, 'PCI.DSS.321-LambdaFunctionPublicAccessProhibited');
      const { url } = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
      this.reachedByUrl = lambda.functionName;
      new CfnOutput(this, 'Url', { key: `${constructId(endpoint.id)}Url`, value: url, description: endpoint.summary });
    }
  }
}
