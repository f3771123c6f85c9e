import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * The rules of cdk-nag that this service does not follow, and why; everything else in its packs (AwsSolutions, Serverless,
 * PCI DSS 3.2.1) holds. Each is acknowledged only where it applies.
 */
const REASONS = {
  'AwsSolutions-APIG4':
    'Each endpoint declares who may call it, and the request chain checks that before anything else: sessions, bearer ' +
    'tokens, guest tokens and signatures over the raw body are kinds of callers that no gateway authorizer covers.',
  'AwsSolutions-IAM5':
    'X-Ray knows no resources; and Lambda itself names the failure objects, in a bucket that holds nothing else and to ' +
    'which the function may only add. Every other right names its resource.',
  'AwsSolutions-SMG4':
    "A provider's keys are made in the provider's own console, where AWS cannot rotate them; the guest token and webhook " +
    'secrets are lists, in which the operator puts a new one first: a rotation that dropped the old would void what it signed.',
  'Serverless-LambdaEventSourceMappingDestination':
    'A queue as event source has no destination: what fails goes to the dead-letter queue of the queue. The readers of the ' +
    'stream, which can have one, have it.',
  'Serverless-SQSRedrivePolicy':
    'It is a dead-letter queue itself, with an alarm on its first message: the last place for what could not be done.',
  'PCI.DSS.321-LambdaInsideVPC':
    'The functions reach AWS services and payment providers over TLS and nothing inside a network; a VPC would add a NAT ' +
    'gateway on their way out, and close nothing, since no one can connect to a function.',
  'PCI.DSS.321-LambdaFunctionPublicAccessProhibited':
    "A provider's webhook has to be reached by the provider, which has no AWS identity: its signature over the raw body is " +
    'what lets it in, and nothing is stored before that is verified.',
  'PCI.DSS.321-S3BucketReplicationEnabled':
    'A failure object is the copy of a change that the table still holds, of use for days, until it has been redone; ' +
    'it is versioned. The table is what has to be restored, and has its own point-in-time recovery.',
} as const;

type AcknowledgedRule = keyof typeof REASONS;

/** @param finding of a rule that has several on one resource: `Resource::*` */
export const acknowledge = (scope: IConstruct, rule: AcknowledgedRule, finding?: string): void => {
  Validations.of(scope).acknowledge({ id: finding ? `${rule}[${finding}]` : rule, reason: REASONS[rule] });
};
