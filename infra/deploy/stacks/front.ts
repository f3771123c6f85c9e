import { CfnOutput } from 'aws-cdk-lib';
import { ApiMapping, CfnStage, DomainName, HttpStage, type IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Certificate, CertificateValidation } from 'aws-cdk-lib/aws-certificatemanager';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { metricsNamespace } from '../../../shared/core/metrics.ts';
import type { Endpoint } from '../../../shared/http/endpoint.ts';
import type { DeploymentSettings } from '../stage/settings.ts';
import { apiIn, keptIn } from './references.ts';
import { ServiceStack } from './service-stack.ts';
import { STAGE_THROTTLE, THROTTLED_REQUESTS, type Throttle, throttleOf } from './throttling.ts';

/**
 * Logs the route's key and, to trace attacks, the caller's address. It never logs the path or query, because they
 * contain ids, e-mail addresses and tokens.
 */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  sourceIp: '$context.identity.sourceIp',
  time: '$context.requestTime',
  routeKey: '$context.routeKey',
  status: '$context.status',
  bytes: '$context.responseLength',
  latencyMs: '$context.responseLatency',
  integrationStatus: '$context.integrationStatus',
  integrationLatencyMs: '$context.integrationLatency',
  integrationError: '$context.integrationErrorMessage',
};

/** Counts the gateway's own 429 responses, because AWS has no metric for them. */
const throttledRequests = (stage: string) => ({
  filterPattern: FilterPattern.all(
    FilterPattern.stringValue('$.status', '=', '429'),
    FilterPattern.stringValue('$.integrationStatus', '=', '-'),
  ),
  metricNamespace: metricsNamespace(stage),
  metricName: THROTTLED_REQUESTS,
  metricValue: '1',
});

const limitsOf = ({ rate, burst }: Throttle) => ({ throttlingRateLimit: rate, throttlingBurstLimit: burst });

export interface FrontStackProps {
  readonly settings: DeploymentSettings;
  readonly endpoints: readonly Endpoint[];
}

/** The public stage of the API. It is deployed last, because its limits may only name existing routes. */
export class FrontStack extends ServiceStack {
  constructor(scope: Construct, { settings, endpoints }: FrontStackProps) {
    super(scope, { stage: settings.stage, part: 'front', description: 'Payments: stage, limits, domain' });
    const api = apiIn(this);
    const { key } = keptIn(this, settings.stage);
    const accessLogs = this.logGroup('AccessLogs', { encryptionKey: key, days: settings.logDays });
    new MetricFilter(this, 'ThrottledRequests', { logGroup: accessLogs, ...throttledRequests(settings.stage) });
    const stage = new CfnStage(this, 'Stage', {
      apiId: api.apiId,
      stageName: '$default',
      autoDeploy: true,
      accessLogSettings: {
        destinationArn: accessLogs.logGroupArn,
        format: JSON.stringify(ACCESS_LOG),
      },
      defaultRouteSettings: limitsOf(STAGE_THROTTLE),
      // CloudFormation passes this map to API Gateway unchanged, so its keys are capitalized.
      routeSettings: Object.fromEntries(
        endpoints.flatMap((endpoint) => {
          const throttle = throttleOf(endpoint);
          if (throttle === STAGE_THROTTLE) return [];
          const { rate, burst } = throttle;
          return [[`${endpoint.method} ${endpoint.path}`, { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst }]];
        }),
      ),
    });
    if (settings.customDomain !== '') this.#domain(settings, api, stage);
  }

  #domain({ customDomain: domainName, basePath }: DeploymentSettings, api: IHttpApi, stage: CfnStage): void {
    // The deployment waits until the operator has added the certificate's record to the domain's DNS.
    const certificate = new Certificate(this, 'Certificate', {
      domainName,
      validation: CertificateValidation.fromDns(),
    });
    const domain = new DomainName(this, 'Domain', { domainName, certificate });
    const mapping = new ApiMapping(this, 'Mapping', {
      api,
      domainName: domain,
      ...(basePath !== '' && { apiMappingKey: basePath.slice(1) }),
      stage: HttpStage.fromHttpStageAttributes(this, 'MappedStage', { api, stageName: stage.stageName }),
    });
    mapping.node.addDependency(stage);
    new CfnOutput(this, 'DomainTarget', { value: domain.regionalDomainName, description: `CNAME of ${domainName}` });
  }
}
