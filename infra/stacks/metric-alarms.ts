/**
 * @module The alarms of the service as a whole. Consumers have their own alarms. Each alarm has a row in
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
      'A customer may have paid for something we do not deliver, or waits for an answer.',
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
      'A payment may be shown wrongly until an operator has checked it, or an attacker tries to have one shown as paid.',
  },
  {
    name: 'publish-failures',
    metric: metrics.publishFailures,
    threshold: 1,
    periods: 2,
    watches: 'state',
    description:
      'The event bus keeps refusing events of stored changes. ' +
      "Payments change, but no consumer gets the events: webhooks and providers' events stand still.",
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
      "Provider events come in whose signature does not hold. Either the provider's secret has changed here or there, " +
      'and payments settle late, or an attacker forges events.',
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
    name: 'provider-errors',
    metric: metrics.providerErrorRate,
    threshold: 10,
    periods: 2,
    watches: 'state',
    description:
      'A provider leaves a tenth of our calls without a clear answer. ' +
      'Customers cannot pay there, and payments stay in processing until they can be looked up.',
  },
];

/** No alarms if no function has its own URL. */
const aboutUrls = ({ urlErrors }: ServiceMetrics): readonly MetricAlarm[] =>
  urlErrors === undefined
    ? []
    : [
        {
          name: 'url-errors',
          metric: urlErrors,
          threshold: 3,
          watches: 'state',
          description:
            "Events that providers send to the functions' own URLs are answered 5xx, three or more within 15 minutes. " +
            'Payments settle late here; providers send again, but not for ever.',
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
      'A twentieth of all requests is answered 5xx. Shops cannot take payments, and providers have to send events again.',
  },
  {
    name: 'request-latency',
    metric: metrics.requestLatency,
    threshold: Duration.seconds(8).toMilliseconds(),
    periods: 3,
    watches: 'state',
    description: 'One request in a hundred takes longer than 8 s. Customers give up at the till.',
  },
  ...aboutUrls(metrics),
  {
    name: 'throttled-functions',
    metric: metrics.functionThrottles,
    threshold: 1,
    periods: 2,
    watches: 'state',
    description:
      "The account's limit of concurrent functions, or the bulkhead of one, is reached. " +
      'Requests are answered 503, and payments cannot be taken; queues wait and lose nothing.',
  },
  {
    name: 'throttled-requests',
    metric: metrics.count(THROTTLED_REQUESTS),
    threshold: 50,
    watches: 'state',
    description:
      'The gateway turns requests away at a limit of the stage or of a route. Shops and their customers are refused.',
  },
  {
    name: 'throttled-table',
    metric: metrics.tableThrottles,
    threshold: 10,
    watches: 'state',
    description:
      'The table or one of its indexes throttles requests. ' +
      'Requests slow down and fail; payments may not be recorded at once.',
  },
];
