import { Aws, type RemovalPolicy } from 'aws-cdk-lib';
import { AccountRootPrincipal, PolicyDocument, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';

/**
 * The encryption key of a stage. To read a secret, a log or a failed record, a role needs the right to read it and the
 * right to use the key. This construct defines the key's whole policy. Functions get the right to use the key through
 * their own roles.
 */
export class ServiceKey extends Construct {
  /** A reference without the key's policy, so encrypted resources cannot extend the policy. */
  readonly reference: IKey;

  constructor(scope: Construct, id: string, { removalPolicy }: { readonly removalPolicy: RemovalPolicy }) {
    super(scope, id);
    const { keyArn } = new Key(this, 'Key', {
      description: 'Secrets, logs, kept failures and alarms of payments',
      enableKeyRotation: true,
      removalPolicy,
      policy: new PolicyDocument({ statements: [governedByAccount, usedByLogs, usedByAlarms, usedByAccessLogs] }),
    });
    this.reference = Key.fromKeyArn(this, 'Reference', keyArn);
  }
}

/** AWS's default statement. Without it, a key that no role may manage cannot be repaired. */
const governedByAccount = new PolicyStatement({
  principals: [new AccountRootPrincipal()],
  actions: ['kms:*'],
  resources: ['*'],
});

const sameAccount = { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } };

const usedByLogs = new PolicyStatement({
  principals: [new ServicePrincipal(`logs.${Aws.REGION}.amazonaws.com`)],
  actions: [
    'kms:Decrypt',
    'kms:DescribeKey',
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:GenerateDataKeyWithoutPlaintext',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ],
  resources: ['*'],
  conditions: {
    ArnLike: {
      'kms:EncryptionContext:aws:logs:arn': `arn:${Aws.PARTITION}:logs:${Aws.REGION}:${Aws.ACCOUNT_ID}:log-group:*`,
    },
  },
});

/** Allows CloudWatch to publish to the encrypted topic. */
const usedByAlarms = new PolicyStatement({
  principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
  actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
  resources: ['*'],
  conditions: sameAccount,
});

const usedByAccessLogs = new PolicyStatement({
  principals: [new ServicePrincipal('logging.s3.amazonaws.com')],
  actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
  resources: ['*'],
  conditions: sameAccount,
});
