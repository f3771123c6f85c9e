/**
 * AWS list prices in US dollars for us-east-1, on demand, without free tiers, as published on 2026-11-21. Check
 * aws.amazon.com/pricing before planning with them.
 */
export const PRICES = {
  readOn: '2026-11-21',
  region: 'us-east-1',
  /** Prices of requests, units and events are per million. */
  httpApiRequests: 1,
  lambdaRequests: 0.2,
  dynamoDbWriteUnits: 0.625,
  dynamoDbReadUnits: 0.125,
  busEvents: 1,
  /** A send, receive or delete request, with up to ten messages. */
  sqsRequests: 0.4,
  /** Per gigabyte that CloudWatch ingests. */
  logGb: 0.5,
  /** For arm64. */
  lambdaGbSecond: 0.0000133334,
} as const;
