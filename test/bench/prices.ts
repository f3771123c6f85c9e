/**
 * Prices of AWS in US dollars in us-east-1, on demand, without free tiers. As published on 2026-11-21; check
 * aws.amazon.com/pricing before planning with them.
 */
export const PRICES = {
  readOn: '2026-11-21',
  region: 'us-east-1',
  /** A million of each. */
  httpApiRequests: 1,
  lambdaRequests: 0.2,
  dynamoDbWriteUnits: 0.625,
  dynamoDbReadUnits: 0.125,
  busEvents: 1,
  /** A send, a receive or a deletion, of up to ten messages. */
  sqsRequests: 0.4,
  /** A gigabyte that CloudWatch ingests. */
  logGb: 0.5,
  /** arm64. */
  lambdaGbSecond: 0.0000133334,
} as const;
