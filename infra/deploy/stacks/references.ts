/** @module Reads the shared values of earlier stacks, each on first use. */
import { HttpApi, type IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { type IQueue, Queue } from 'aws-cdk-lib/aws-sqs';
import { once } from '../../../shared/core/once.ts';
import type { QueueName } from '../../../shared/core/rights.ts';
import type { Trigger } from '../../../shared/platform/trigger.ts';
import type { KeptResources, QueueReference } from '../constructs/context.ts';
import type { DeploymentSettings, Stage } from '../stage/settings.ts';
import type { ServiceStack } from './service-stack.ts';

/** The resources of the stack `data`. */
export const keptIn = (stack: ServiceStack, stage: Stage): KeptResources => {
  const read = (name: string): string => stack.shared('data', name);
  const key = once(() => Key.fromKeyArn(stack, 'Key', read('key-arn')));
  return {
    table: {
      get name() {
        return read('table-name');
      },
      get arn() {
        return read('table-arn');
      },
      get streamArn() {
        return read('table-stream-arn');
      },
    },
    bus: {
      get name() {
        return read('bus-name');
      },
      get arn() {
        return read('bus-arn');
      },
    },
    providerSecretArn: (slot) => read(`${slot}-secret-arn`),
    signatureSecretArn: (slot) => read(`${slot}-signature-secret-arn`),
    get guestTokenSecretArn() {
      return read('guest-token-secret-arn');
    },
    get idSecretArn() {
      return read('id-secret-arn');
    },
    get webhookSecretArn() {
      return read('webhook-secret-arn');
    },
    alarms: {
      stage,
      get topicArn() {
        return read('alarms-arn');
      },
    },
    get key() {
      return key();
    },
  };
};

export const apiIn = (stack: ServiceStack): IHttpApi =>
  HttpApi.fromHttpApiAttributes(stack, 'HttpApi', { httpApiId: stack.shared('api', 'id') });

/** The queue of failed invocations. */
export const undoneIn = (stack: ServiceStack): IQueue =>
  Queue.fromQueueArn(stack, 'Undone', stack.shared('api', 'undone-arn'));

/** The API's address according to the settings. If empty, the API's own address applies. */
export const configuredBaseUrl = ({ publicBaseUrl, customDomain, basePath }: DeploymentSettings): string =>
  publicBaseUrl || (customDomain === '' ? '' : `https://${customDomain}${basePath}`);

export const baseUrlIn = (stack: ServiceStack, settings: DeploymentSettings): string =>
  configuredBaseUrl(settings) || stack.shared('api', 'base-url');

/** The names of the shared values of queues, functions and event sources. */
export const queueValue = (queue: QueueName, attribute: 'arn' | 'url' | 'dead-letters-arn'): string =>
  `${queue}-queue-${attribute}`;
export const functionValue = (id: string): string => `${id}-function`;
export const sourceValue = (id: string): string => `${id}-source`;

/** The queues of the stack `events`. */
export const queuesIn = (stack: ServiceStack, triggers: readonly Trigger[]): ReadonlyMap<QueueName, QueueReference> =>
  new Map(
    triggers.flatMap((trigger) => {
      if (trigger.kind !== 'queue') return [];
      const { queue } = trigger;
      return [
        [
          queue,
          {
            get arn() {
              return stack.shared('events', queueValue(queue, 'arn'));
            },
            get url() {
              return stack.shared('events', queueValue(queue, 'url'));
            },
          },
        ] as const,
      ];
    }),
  );
