import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * The cdk-nag rules that this service does not follow, with reasons. All other rules of its packs (AwsSolutions,
 * Serverless, PCI DSS 3.2.1) hold. Each exception applies to named resources only.
 */
const REASONS = {
  'AwsSolutions-APIG4':
    'Each endpoint declares who may call it, and the request chain checks that before anything else: sessions, bearer ' +
    'tokens, guest tokens and signatures over the raw body are kinds of callers that no gateway authorizer covers.',
  'AwsSolutions-IAM5':
    'X-Ray and copies of backups have no resources to name. Lambda itself names the failure objects, in a bucket that ' +
    'holds nothing else and to which the function may only add, and AWS Backup names the backups of the table. ' +
    'Every other right names its resource.',
  'AwsSolutions-SMG4':
    "A provider's keys are made in the provider's own console, where AWS cannot rotate them; the guest token and webhook " +
    'secrets are lists, in which the operator puts a new secret first, because dropping the old secret would void what it signed.',
  'Serverless-LambdaEventSourceMappingDestination':
    'A queue as event source has no destination, so failed messages go to its dead-letter queue. The readers of the ' +
    'stream have a failure destination.',
  'Serverless-SQSRedrivePolicy': 'It is itself a dead-letter queue, with an alarm on its first message.',
  'Serverless-LambdaTracing': 'The operator has turned traces off (TRACING), because each one costs.',
  'PCI.DSS.321-LambdaInsideVPC':
    'The functions reach AWS services and payment providers over TLS and nothing inside a network; a VPC would add a NAT ' +
    'gateway on their way out, and protect nothing, because no inbound connection to a function is possible.',
  'PCI.DSS.321-LambdaFunctionPublicAccessProhibited':
    'A provider calls its webhook route without an AWS identity, so its signature over the raw body ' +
    'authorizes the request, and nothing is stored before the signature is verified.',
  'PCI.DSS.321-S3BucketReplicationEnabled':
    'A failure object is a copy of a change that the table still holds. It is needed for days, until the change is redone; ' +
    'it is versioned. Only the table must be restorable, and it has its own point-in-time recovery.',
} as const;

type AcknowledgedRule = keyof typeof REASONS;

/** @param finding names one of several findings of the rule on one resource, such as `Resource::*` */
export const acknowledge = (scope: IConstruct, rule: AcknowledgedRule, finding?: string): void => {
  Validations.of(scope).acknowledge({ id: finding ? `${rule}[${finding}]` : rule, reason: REASONS[rule] });
};
