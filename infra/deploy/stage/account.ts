/** @module Reads the facts about the AWS account and the deployed stage for the checks before a deployment. */

import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import {
  GetAWSDefaultServiceQuotaCommand,
  GetServiceQuotaCommand,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import * as z from 'zod';
import { PAYMENT_SLOTS, PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { keysOutput, type Stage, signatureOutput, stackName } from './settings.ts';

/** Codes of Service Quotas. They are public and the same in every AWS account. */
const QUOTAS = {
  routes: { ServiceCode: 'apigateway', QuotaCode: 'L-65B5C802' },
  rules: { ServiceCode: 'events', QuotaCode: 'L-244521F2' },
  eventsPerSecond: { ServiceCode: 'events', QuotaCode: 'L-9B653E91' },
} as const;
type QuotaName = keyof typeof QUOTAS;

export interface AccountFacts {
  /** Concurrent executions of Lambda in the account and region. */
  readonly concurrency: number | undefined;
  readonly quotas: Readonly<Record<QuotaName, number | undefined>>;
  /** The value names in each secret of the stage; undefined before the first deployment. */
  readonly secrets: StoredSecrets | undefined;
  /** Unreadable facts, with reasons. */
  readonly unread: readonly string[];
}

export interface StoredSecrets {
  readonly keys: Readonly<Partial<Record<ProviderSlot, readonly string[]>>>;
  readonly signatures: Readonly<Partial<Record<ProviderSlot, readonly string[]>>>;
}

export interface AccountClients {
  readonly cloudFormation: Pick<CloudFormationClient, 'send'>;
  readonly lambda: Pick<LambdaClient, 'send'>;
  readonly quotas: Pick<ServiceQuotasClient, 'send'>;
  readonly secrets: Pick<SecretsManagerClient, 'send'>;
}

export const accountClients = (account: { readonly region: string; readonly profile?: string }): AccountClients => ({
  cloudFormation: new CloudFormationClient(account),
  lambda: new LambdaClient(account),
  quotas: new ServiceQuotasClient(account),
  secrets: new SecretsManagerClient(account),
});

/**
 * Reads the limits of the account, and the names of the values in the stage's secrets. Never keeps the values
 * themselves.
 */
export const readAccount = async (clients: AccountClients, stage: Stage): Promise<AccountFacts> => {
  const unread: string[] = [];
  const unlessRefused = async <T>(fact: string, read: Promise<T>): Promise<T | undefined> =>
    read.catch((error: unknown) => {
      unread.push(`${fact}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    });
  const quotaOf = (name: QuotaName) => unlessRefused(`the quota of ${name}`, readQuota(clients, name));
  const [concurrency, routes, rules, eventsPerSecond, secrets] = await Promise.all([
    unlessRefused('the limit of concurrent executions', readConcurrency(clients)),
    quotaOf('routes'),
    quotaOf('rules'),
    quotaOf('eventsPerSecond'),
    unlessRefused('the secrets of the stage', readSecrets(clients, stage)),
  ]);
  return { concurrency, quotas: { routes, rules, eventsPerSecond }, secrets, unread: unread.toSorted() };
};

const readConcurrency = async ({ lambda }: AccountClients): Promise<number | undefined> =>
  (await lambda.send(new GetAccountSettingsCommand({}))).AccountLimit?.ConcurrentExecutions;

/** Falls back to AWS's default, because an unchanged quota may have no applied value. */
const readQuota = async ({ quotas }: AccountClients, name: QuotaName): Promise<number | undefined> => {
  const applied = await quotas.send(new GetServiceQuotaCommand(QUOTAS[name])).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'NoSuchResourceException') return undefined;
    throw error;
  });
  const { Quota } = applied ?? (await quotas.send(new GetAWSDefaultServiceQuotaCommand(QUOTAS[name])));
  return Quota?.Value;
};

const valuesSchema = z.record(z.string(), z.unknown());

const readSecrets = async (clients: AccountClients, stage: Stage): Promise<StoredSecrets | undefined> => {
  const outputs = await outputsOfData(clients, stage);
  if (outputs === undefined) return undefined;
  const namesIn = async (output: string): Promise<readonly string[]> => {
    const SecretId = outputs.get(output);
    if (SecretId === undefined) return [];
    const { SecretString } = await clients.secrets.send(new GetSecretValueCommand({ SecretId }));
    return namesOf(SecretString);
  };
  const bySlot = async (slots: readonly ProviderSlot[], output: (slot: ProviderSlot) => string) =>
    Object.fromEntries(await Promise.all(slots.map(async (slot) => [slot, await namesIn(output(slot))] as const)));
  const [keys, signatures] = await Promise.all([
    bySlot(PROVIDER_SLOTS, keysOutput),
    bySlot(PAYMENT_SLOTS, signatureOutput),
  ]);
  return { keys, signatures };
};

/**
 * A secret that is not a JSON object counts as empty, so a check reports its missing values. With such a secret,
 * functions refuse every call.
 */
const namesOf = (text: string | undefined): readonly string[] => {
  try {
    const values = valuesSchema.parse(JSON.parse(text || '{}'));
    return Object.keys(values).filter((name) => values[name] !== '');
  } catch {
    return [];
  }
};

/** @returns undefined if the stack does not exist, or has no output because its creation failed. */
const outputsOfData = async (
  { cloudFormation }: AccountClients,
  stage: Stage,
): Promise<ReadonlyMap<string, string> | undefined> => {
  const described = await cloudFormation
    .send(new DescribeStacksCommand({ StackName: stackName(stage, 'data') }))
    .catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ValidationError') return undefined;
      throw error;
    });
  const outputs = described?.Stacks?.[0]?.Outputs ?? [];
  if (outputs.length === 0) return undefined;
  return new Map(
    outputs.flatMap(({ OutputKey, OutputValue }) =>
      OutputKey && OutputValue ? [[OutputKey, OutputValue] as const] : [],
    ),
  );
};
