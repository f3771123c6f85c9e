import { Aws } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Right } from '../../shared/core/rights.ts';
import { PROVIDER_SLOTS } from '../../shared/core/settings.ts';
import { TABLE } from '../../shared/table/keys.ts';
import type { ServiceContext } from './context.ts';

/** The actions of each right. No function may scan; a transaction needs the actions of its items. */
const TABLE_READ = ['dynamodb:BatchGetItem', 'dynamodb:ConditionCheckItem', 'dynamodb:GetItem', 'dynamodb:Query'];
const TABLE_WRITE = ['dynamodb:DeleteItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem'];

export const statementsOf = (right: Right, context: ServiceContext): readonly PolicyStatement[] => {
  switch (right) {
    case 'table:read':
      return [
        allow(TABLE_READ, [
          context.table.tableArn,
          ...TABLE.indexes.map(({ name }) => `${context.table.tableArn}/index/${name}`),
        ]),
      ];
    case 'table:write':
      return [allow(TABLE_WRITE, [context.table.tableArn])];
    case 'events:put':
      return [allow(['events:PutEvents'], [context.bus.eventBusArn])];
    case 'secrets:providers':
      return readSecrets(
        context,
        PROVIDER_SLOTS.map((slot) => context.providerSecrets[slot].secretArn),
      );
    case 'secrets:guest-tokens':
      return readSecrets(context, [context.guestTokenSecret.secretArn]);
    case 'secrets:webhooks':
      return readSecrets(context, [context.webhookSecret.secretArn]);
    default:
      return [allow(['sqs:SendMessage'], [queueOf(right, context).queueArn])];
  }
};

/** They may use the key for secrets, and for nothing else that it encrypts. */
const readSecrets = ({ key }: ServiceContext, arns: readonly string[]): readonly PolicyStatement[] => [
  allow(['secretsmanager:GetSecretValue'], arns),
  new PolicyStatement({
    actions: ['kms:Decrypt'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `secretsmanager.${Aws.REGION}.amazonaws.com` } },
  }),
];

/** The settings that a function with this right needs. */
export const environmentOf = (right: Right, context: ServiceContext): Readonly<Record<string, string>> => {
  switch (right) {
    case 'table:read':
    case 'table:write':
      return { TABLE_NAME: context.table.tableName };
    case 'events:put':
      return { EVENT_BUS_NAME: context.bus.eventBusName };
    case 'secrets:providers':
      return Object.fromEntries(
        PROVIDER_SLOTS.map((slot) => [`${slot.toUpperCase()}_SECRET_ARN`, context.providerSecrets[slot].secretArn]),
      );
    case 'secrets:guest-tokens':
      return { GUEST_TOKEN_SECRET_ARN: context.guestTokenSecret.secretArn };
    case 'secrets:webhooks':
      return { WEBHOOKS_SECRET_ARN: context.webhookSecret.secretArn };
    default:
      return queueEnvironment(queueNameOf(right), queueOf(right, context).queueUrl);
  }
};

export const queueEnvironment = (queue: string, url: string): Readonly<Record<string, string>> => ({
  [`QUEUE_URL_${queue.toUpperCase().replaceAll('-', '_')}`]: url,
});

type SendRight = Extract<Right, `queue:send:${string}`>;

const queueNameOf = (right: SendRight): string => right.slice('queue:send:'.length);

const queueOf = (right: SendRight, { queues }: ServiceContext) => {
  const queue = [...queues].find(([name]) => name === queueNameOf(right));
  if (!queue) throw new Error(`${right}: no trigger declares this queue`);
  return queue[1];
};

export const allow = (actions: readonly string[], resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });
