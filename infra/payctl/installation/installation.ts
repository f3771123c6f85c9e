import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { verifiesWithKeys } from '../../../shared/core/capabilities.ts';
import type { Log } from '../../../shared/core/logger.ts';
import { PAYMENT_SLOTS, type ProviderSlot, parseSettings, type Settings } from '../../../shared/core/settings.ts';
import { setHost } from '../../../shared/host.ts';
import { openDynamo, openSecretsManager, openSqs } from '../../../shared/platform/aws-clients.ts';
import { openQueues, type Queues } from '../../../shared/platform/queues.ts';
import type { MoneyDeps } from '../../../shared/providers/provider-deps.ts';
import {
  openProviders,
  openReceivers,
  type Receivers,
  type RegistryOptions,
} from '../../../shared/providers/registry.ts';
import { moneyDeps } from '../../../shared/runtime.ts';
import type { BillingDeps } from '../../../shared/subscriptions/billing/biller.ts';
import type { Stage } from '../../deploy/stage/settings.ts';
import type { InstallationFacts } from './facts.ts';
import { readLocalHost } from './local-host.ts';
import { openSlotSecrets } from './secrets.ts';

/** A command's local host or deployed stage. Both have the same clients. */
export interface Installation extends Omit<InstallationFacts, 'env'> {
  readonly isLocal: boolean;
  readonly settings: Settings;
  /** Dependencies of the service's use cases. They print nothing to standard output. */
  readonly deps: MoneyDeps & Pick<BillingDeps, 'dunning'>;
  /** The receivers that verify the providers' events. */
  readonly receivers: Receivers;
  readonly queues: Queues;
  readonly dynamodb: DynamoDBClient;
  readonly documents: DynamoDBDocumentClient;
  readonly sqs: SQSClient;
  /** The `date` headers of all provider responses so far, with this machine's time. Epoch ms. */
  readonly datesSeen: readonly { readonly theirs: number; readonly ours: number }[];
}

export interface InstallationOptions {
  /** A deployed stage; absent for the local host. */
  readonly stage?: Stage | undefined;
  /** The local host's base URL. */
  readonly url: string;
}

/** Loads the AWS clients of a deployed stage only when needed, because the local host may lack their packages. */
const siteOf = async ({ stage, url }: InstallationOptions) => {
  if (stage === undefined) return readLocalHost(url);
  const { readStage } = await import('./stage.ts');
  return readStage(stage);
};

/** @throws NotReachable */
export const openInstallation = async (options: InstallationOptions): Promise<Installation> => {
  const site = await siteOf(options);
  const env = { ...site.env, LOG_LEVEL: 'silent' };
  setHost({ env, now: site.now });
  const settings = parseSettings(env);
  const datesSeen: { theirs: number; ours: number }[] = [];
  const { slots } = settings;
  const registry: Omit<RegistryOptions, 'withSecrets'> = {
    slots,
    timeoutMs: PROVIDER_TIMEOUT_MS,
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      const theirs = Date.parse(answer.headers.get('date') ?? '');
      if (!Number.isNaN(theirs)) datesSeen.push({ theirs, ours: Date.now() });
      return answer;
    },
    log: SILENT,
  };
  const keysArn = async (slot: ProviderSlot): Promise<string> => slots[slot].SECRET_ARN;
  const signaturesArn = async (slot: ProviderSlot): Promise<string> => {
    const receiving = PAYMENT_SLOTS.find((known) => known === slot);
    const isApart = receiving !== undefined && !verifiesWithKeys(slots[slot].ADAPTER);
    return isApart ? site.signatureSecretArn(receiving) : keysArn(slot);
  };
  const secretsAt = (arnOf: (slot: ProviderSlot) => Promise<string>) =>
    openSlotSecrets({ slots, arnOf, open: () => openSecretsManager({ env }) });
  const sqs = openSqs({ env });
  const dynamodb = openDynamo({ env });
  const queueUrls = site.queueUrls.map(({ queue, url }) => [queue, url]);
  const { env: _, ...facts } = site;
  return {
    ...facts,
    isLocal: site.control !== undefined,
    settings,
    deps: { ...moneyDeps(), providers: openProviders({ ...registry, withSecrets: secretsAt(keysArn) }) },
    receivers: openReceivers({ ...registry, withSecrets: secretsAt(signaturesArn) }),
    queues: openQueues(sqs, Object.fromEntries(queueUrls)),
    dynamodb,
    documents: DynamoDBDocumentClient.from(dynamodb),
    sqs,
    datesSeen,
  };
};

/** Longer than on AWS, because no gateway limits the wait here and a slow response is better than no response. */
const PROVIDER_TIMEOUT_MS = 20_000;

const nothing = (): void => undefined;
const SILENT: Log = { info: nothing, warn: nothing, error: nothing };
