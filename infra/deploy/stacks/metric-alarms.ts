/**
 * @module The alarms of the service as a whole. Consumers have separate alarms. Each alarm has a row in
 * docs/operations.md.
 */

import { Duration } from 'aws-cdk-lib';
import type { ServiceAlarmProps } from '../constructs/alarm.ts';
import { THROTTLED_REQUESTS } from './throttling.ts';
import type { ServiceMetrics } from './watched.ts';

type MetricAlarm = Omit<ServiceAlarmProps, 'alarms'>;

export const metricAlarms = (metrics: ServiceMetrics): readonly MetricAlarm[] => [
  ...aboutMoney(metrics),
  ...aboutMoneyBack(metrics),
  ...aboutProviders(metrics),
  ...aboutRequests(metrics),
];

const aboutMoney = (metrics: ServiceMetrics): readonly MetricAlarm[] => [
  {
    name: 'stuck-payments',
    metric: metrics.count('StuckPayments', Duration.hours(1)),
    threshold: 1,
    watches: 'occurrence',
    description:
      'The outcome of a charge is unknown. ' +
      'A customer may have paid for something we do not deliver, or still waits for the result.',
  },
  {
    name: 'anomalies',
    metric: metrics.count('Anomalies'),
    threshold: 1,
    watches: 'occurrence',
    description:
      'A provider reports another amount, currency or final status of a payment than our record. ' +
      'Money may have moved that the books do not show, or the books show money that did not move.',
  },
  {
    name: 'quarantined-events',
    metric: metrics.count('QuarantinedEvents'),
    threshold: 1,
    watches: 'occurrence',
    description:
      "A provider's event contradicts the record and has changed nothing. " +
      'A payment may be shown wrongly until an operator checks it, or an attacker tries to have a payment shown as paid.',
  },
  {
    name: 'publish-failures',
    metric: metrics.publishFailures,
    threshold: 1,
    periods: 2,
    watches: 'state',
    description:
      'The event bus keeps refusing events of stored changes. ' +
      'Payments change, but no consumer gets the events, so no webhook is sent and no provider event is applied.',
  },
];

const aboutMoneyBack = (metrics: ServiceMetrics): readonly MetricAlarm[] => [
  {
    name: 'stuck-refunds',
    metric: metrics.count('StuckRefunds', Duration.hours(1)),
    threshold: 1,
    watches: 'occurrence',
    description:
      'The outcome of a refund has been unknown for half an hour. ' +
      'Look the refund up at the provider, then run payctl reconcile for its payment; do not refund again by hand.',
  },
  {
    name: 'opened-disputes',
    metric: metrics.count('OpenedDisputes'),
    threshold: 1,
    watches: 'occurrence',
    description:
      'A payer disputes a payment at their bank, and the provider holds the money back. ' +
      'Find the dispute with GET /disputes and give evidence at the provider before evidence_due_by.',
  },
  {
    name: 'disputes-due',
    metric: metrics.count('DisputesDue'),
    threshold: 1,
    watches: 'occurrence',
    description:
      'The evidence for a dispute is due within three days, and a dispute without evidence is lost. ' +
      'Run payctl doctor to see which dispute it is, and give evidence at the provider.',
  },
];

const aboutProviders = (metrics: ServiceMetrics): readonly MetricAlarm[] => [
  {
    name: 'refused-events',
    metric: metrics.count('RefusedSignatures'),
    threshold: 5,
    watches: 'occurrence',
    description:
      'Provider events arrive with an invalid signature. Either the secret differs between the provider and this service, ' +
      'so payments settle late, or an attacker forges events.',
  },
  {
    name: 'decline-rate',
    metric: metrics.declineRate,
    threshold: 50,
    watches: 'state',
    description:
      'A provider has declined half of at least twenty payments within half an hour. ' +
      'Customers cannot buy, or stolen cards are being tested here.',
  },
  {
    name: 'key-declines',
    metric: metrics.count('KeyDeclinesLimited'),
    threshold: 1,
    watches: 'occurrence',
    description:
      'A service key has reached KEY_DECLINES_PER_HOUR, and its charges and saves get 429. ' +
      'Stolen cards are being tested through a shop, and customers of that shop cannot buy.',
  },
  {
    name: 'provider-errors',
    metric: metrics.providerErrorRate,
    threshold: 10,
    periods: 2,
    watches: 'state',
    description:
      'A tenth of our calls to a provider get no clear response. ' +
      'Customers cannot pay there, and payments stay in processing until they can be looked up.',
  },
  {
    name: 'provider-fails',
    metric: metrics.providerFailureRate,
    threshold: 50,
    exceeds: true,
    watches: 'state',
    description:
      'More than half of at least three calls to a provider within five minutes got no clear response. ' +
      'Customers cannot pay there at present, even if only a few try.',
  },
];

/** The alarms about the functions' own URLs; none if no function has one. */
const aboutUrls = ({ urlErrors, urlsFail }: ServiceMetrics): readonly MetricAlarm[] =>
  urlErrors === undefined || urlsFail === undefined
    ? []
    : [
        {
          name: 'urls-fail',
          metric: urlsFail,
          threshold: 1,
          watches: 'state',
          description:
            "Most of at least three provider events that reached a function's own URL within 15 minutes got a 5xx. " +
            'Payments of that provider settle late here; providers retry, but only for a limited time.',
        },
        {
          name: 'url-errors',
          metric: urlErrors,
          threshold: 3,
          watches: 'state',
          description:
            "The functions' own URLs returned 5xx to three or more provider events within 15 minutes. " +
            'Payments settle late here; providers retry, but only for a limited time.',
        },
      ];

/**
 * The alarm about health; none if nothing probes the stage. If the probe stops running, the alarms of its schedule rise
 * instead.
 */
const aboutHealth = ({ unhealthyProbes }: ServiceMetrics): readonly MetricAlarm[] =>
  unhealthyProbes === undefined
    ? []
    : [
        {
          name: 'unhealthy',
          metric: unhealthyProbes,
          threshold: 1,
          periods: 3,
          watches: 'state',
          description:
            'The public address of the stage has not returned its health for three minutes. ' +
            'Shops and their customers cannot reach the service, or its certificate or name in DNS is wrong.',
        },
      ];

const aboutRequests = (metrics: ServiceMetrics): readonly MetricAlarm[] => [
  {
    name: 'request-errors',
    metric: metrics.requestErrorRate,
    threshold: 5,
    periods: 2,
    watches: 'state',
    description:
      'Five per cent of all requests return 5xx. Shops cannot take payments, and providers have to send events again.',
  },
  {
    name: 'requests-fail',
    metric: metrics.requestsFail,
    threshold: 1,
    watches: 'state',
    description:
      'Most of at least three requests within five minutes returned 5xx. ' +
      'Customers cannot pay at present, even if only a few try, and providers have to send events again.',
  },
  {
    name: 'request-latency',
    metric: metrics.requestLatency,
    threshold: Duration.seconds(8).toMilliseconds(),
    periods: 3,
    watches: 'state',
    description: 'One request in a hundred takes longer than 8 s. Customers give up at checkout.',
  },
  ...aboutUrls(metrics),
  ...aboutHealth(metrics),
  {
    name: 'throttled-functions',
    metric: metrics.functionThrottles,
    threshold: 1,
    periods: 2,
    watches: 'state',
    description:
      "The account's limit of concurrent functions, or the bulkhead of a function, is reached. " +
      'Requests get 503, and payments cannot be taken; queues wait and lose nothing.',
  },
  {
    name: 'throttled-requests',
    metric: metrics.count(THROTTLED_REQUESTS),
    threshold: 50,
    watches: 'state',
    description:
      'The gateway rejects requests over a limit of the stage or of a route. Shops and their customers are refused.',
  },
  {
    name: 'throttled-table',
    metric: metrics.tableThrottles,
    threshold: 10,
    watches: 'state',
    description:
      'The table or one of its indexes throttles requests. ' +
      'Requests slow down and fail; payments may not be recorded immediately.',
  },
];
