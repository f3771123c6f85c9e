import { Aws } from 'aws-cdk-lib';
import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { verifiesWithKeys } from '../../../shared/core/capabilities.ts';
import {
  DENIED_ON_KEYS,
  KEYED_ACTIONS,
  type KeyedRight,
  type Right,
  TABLE_ACTIONS,
} from '../../../shared/core/rights.ts';
import { PAYMENT_SLOTS, type PaymentSlot, PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { TABLE } from '../../../shared/platform/keys.ts';
import type { ServiceContext } from './context.ts';

export const statementsOf = (right: Right, context: ServiceContext): readonly PolicyStatement[] => {
  switch (right) {
    case 'table:read':
      return [
        allow(TABLE_ACTIONS[right], [
          context.kept.table.arn,
          ...TABLE.indexes.map(({ name }) => `${context.kept.table.arn}/index/${name}`),
        ]),
      ];
    case 'table:put':
    case 'table:delete':
    case 'table:scan':
      return [allow(TABLE_ACTIONS[right], [context.kept.table.arn])];
    case 'table:count':
    case 'table:receive':
    case 'table:keys':
      return [onKeys(right, context)];
    case 'events:put':
      return [allow(['events:PutEvents'], [context.kept.bus.arn])];
    case 'secrets:guest-tokens':
      return [readSecret(context.kept.guestTokenSecretArn), useKeyForSecrets(context)];
    case 'secrets:ids':
      return [readSecret(context.kept.idSecretArn), useKeyForSecrets(context)];
    case 'secrets:webhooks':
      return [readSecret(context.kept.webhookSecretArn), useKeyForSecrets(context)];
    case 'secrets:provider_a':
    case 'secrets:provider_b':
    case 'secrets:provider_c':
    case 'secrets:provider_d':
      return [readSecret(context.kept.providerSecretArn(slotOf(right))), useKeyForSecrets(context)];
    case 'signatures:provider_a':
    case 'signatures:provider_b':
    case 'signatures:provider_c':
      return [readSecret(secretForEvents(receivingSlotOf(right), context)), useKeyForSecrets(context)];
    case 'queue:depth:run-due':
      return [allow(['sqs:GetQueueAttributes'], [queueOf('run-due', context).arn])];
    default:
      return [allow(['sqs:SendMessage'], [queueOf(queueNameOf(right), context).arn])];
  }
};

/** `ForAllValues` also matches a request without partition keys, so `Null` excludes such requests. */
const onKeys = (right: KeyedRight, { kept: { table } }: ServiceContext): PolicyStatement => {
  const { actions, keys } = KEYED_ACTIONS[right];
  return new PolicyStatement({
    actions: [...actions],
    resources: [table.arn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [...keys] },
      Null: { 'dynamodb:LeadingKeys': 'false' },
    },
  });
};

/**
 * A function with write access to service keys can grant itself any scope, so other functions are denied that access. A
 * function without table rights needs no denial.
 */
export const denialsOf = (uses: readonly Right[], { kept: { table } }: ServiceContext): readonly PolicyStatement[] =>
  uses.includes('table:keys') || !uses.some((right) => right.startsWith('table:'))
    ? []
    : [
        new PolicyStatement({
          effect: Effect.DENY,
          actions: [...DENIED_ON_KEYS.actions],
          resources: [table.arn],
          conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': [...DENIED_ON_KEYS.keys] } },
        }),
      ];

const readSecret = (arn: string): PolicyStatement => allow(['secretsmanager:GetSecretValue'], [arn]);

/** Allows functions to decrypt secrets with the key, but no other data. */
const useKeyForSecrets = ({ kept: { key } }: ServiceContext): PolicyStatement =>
  new PolicyStatement({
    actions: ['kms:Decrypt'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `secretsmanager.${Aws.REGION}.amazonaws.com` } },
  });

/** The settings that this right requires. */
export const environmentOf = (right: Right, context: ServiceContext): Readonly<Record<string, string>> => {
  switch (right) {
    case 'table:read':
    case 'table:put':
    case 'table:delete':
    case 'table:scan':
    case 'table:count':
    case 'table:receive':
    case 'table:keys':
      return { TABLE_NAME: context.kept.table.name };
    case 'events:put':
      return { EVENT_BUS_NAME: context.kept.bus.name };
    case 'secrets:guest-tokens':
      return { GUEST_TOKEN_SECRET_ARN: context.kept.guestTokenSecretArn };
    case 'secrets:ids':
      return { ID_SECRET_ARN: context.kept.idSecretArn };
    case 'secrets:webhooks':
      return { WEBHOOKS_SECRET_ARN: context.kept.webhookSecretArn };
    case 'secrets:provider_a':
    case 'secrets:provider_b':
    case 'secrets:provider_c':
    case 'secrets:provider_d': {
      const slot = slotOf(right);
      return { [`${slot.toUpperCase()}_SECRET_ARN`]: context.kept.providerSecretArn(slot) };
    }
    case 'signatures:provider_a':
    case 'signatures:provider_b':
    case 'signatures:provider_c': {
      const slot = receivingSlotOf(right);
      return { [`${slot.toUpperCase()}_SIGNATURE_SECRET_ARN`]: secretForEvents(slot, context) };
    }
    case 'queue:depth:run-due':
      return queueEnvironment('run-due', queueOf('run-due', context).url);
    default:
      return queueEnvironment(queueNameOf(right), queueOf(queueNameOf(right), context).url);
  }
};

const slotOf = (right: `secrets:${ProviderSlot}`): ProviderSlot => {
  const slot = PROVIDER_SLOTS.find((known) => right === `secrets:${known}`);
  if (!slot) throw new Error(`${right} names no slot`);
  return slot;
};

const receivingSlotOf = (right: `signatures:${PaymentSlot}`): PaymentSlot => {
  const slot = PAYMENT_SLOTS.find((known) => right === `signatures:${known}`);
  if (!slot) throw new Error(`${right} names no slot`);
  return slot;
};

/**
 * The ARN of the only secret that an event receiver can read. The receiver verifies PayPal's events by an API call with
 * PayPal's keys, so for PayPal it is the secret of the keys.
 */
const secretForEvents = (slot: PaymentSlot, { kept, settings }: ServiceContext): string =>
  verifiesWithKeys(settings.adapters[slot]) ? kept.providerSecretArn(slot) : kept.signatureSecretArn(slot);

export const queueEnvironment = (queue: string, url: string): Readonly<Record<string, string>> => ({
  [`QUEUE_URL_${queue.toUpperCase().replaceAll('-', '_')}`]: url,
});

type SendRight = Extract<Right, `queue:send:${string}`>;

const queueNameOf = (right: SendRight): string => right.slice('queue:send:'.length);

const queueOf = (wanted: string, { queues }: ServiceContext) => {
  const queue = [...queues].find(([name]) => name === wanted);
  if (!queue) throw new Error(`no trigger declares the queue ${wanted}`);
  return queue[1];
};

export const allow = (actions: readonly string[], resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });
