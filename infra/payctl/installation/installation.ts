import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { parseSettings, type Settings } from '../../../shared/core/settings.ts';
import { openQueues, type Queues } from '../../../shared/messaging/queues.ts';
import type { Log } from '../../../shared/observability/logger.ts';
import type { MoneyDeps } from '../../../shared/providers/registry/deps.ts';
import { openProviders } from '../../../shared/providers/registry/registry.ts';
import { moneyDeps, setHost } from '../../../shared/runtime.ts';
import type { Stage } from '../../stage/settings.ts';
import type { InstallationFacts } from './facts.ts';
import { readLocalHost } from './local-host.ts';
import { openSlotSecrets } from './secrets.ts';
import { readStage } from './stage.ts';

/** Where a command works: the local host, or a deployed stage; the same clients for both. */
export interface Installation extends Omit<InstallationFacts, 'env'> {
  readonly isLocal: boolean;
  readonly settings: Settings;
  /** What the use cases of the service take; they say nothing on standard output. */
  readonly deps: MoneyDeps;
  readonly queues: Queues;
  readonly dynamodb: DynamoDBClient;
  readonly documents: DynamoDBDocumentClient;
  readonly sqs: SQSClient;
  /** Times that providers have stated in their answers so far, epoch ms, beside this machine's. */
  readonly datesSeen: readonly { readonly theirs: number; readonly ours: number }[];
}

export interface InstallationOptions {
  /** A deployed stage; the local host where there is none. */
  readonly stage?: Stage | undefined;
  /** The local host's base URL. */
  readonly url: string;
}

/** @throws NotReachable */
export const openInstallation = async (options: InstallationOptions): Promise<Installation> => {
  const site = options.stage === undefined ? await readLocalHost(options.url) : await readStage(options.stage);
  const env = { ...site.env, LOG_LEVEL: 'silent' };
  setHost({ env, now: site.now });
  const settings = parseSettings(env);
  const datesSeen: { theirs: number; ours: number }[] = [];
  const providers = openProviders({
    slots: settings.slots,
    withSecrets: openSlotSecrets(settings, () => new SecretsManagerClient({})),
    timeoutMs: PATIENCE_MS,
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      const theirs = Date.parse(answer.headers.get('date') ?? '');
      if (!Number.isNaN(theirs)) datesSeen.push({ theirs, ours: Date.now() });
      return answer;
    },
    log: SILENT,
  });
  const sqs = new SQSClient(clientOf(env, 'AWS_ENDPOINT_URL_SQS'));
  const dynamodb = new DynamoDBClient(clientOf(env, 'AWS_ENDPOINT_URL_DYNAMODB'));
  const queueUrls = site.queueUrls.map(({ queue, url }) => [queue, url]);
  const { env: _, ...told } = site;
  return {
    ...told,
    isLocal: site.control !== undefined,
    settings,
    deps: { ...moneyDeps(), providers },
    queues: openQueues(sqs, Object.fromEntries(queueUrls)),
    dynamodb,
    documents: DynamoDBDocumentClient.from(dynamodb),
    sqs,
    datesSeen,
  };
};

/** Nobody waits at a gateway: a slow answer is better than none. */
const PATIENCE_MS = 20_000;

const nothing = (): void => undefined;
const SILENT: Log = { info: nothing, warn: nothing, error: nothing };

/** Against the local host its own credentials; else what the SDK finds by itself (AWS_PROFILE, AWS_REGION …). */
const clientOf = (env: Readonly<Record<string, string>>, endpointVariable: string) => {
  const { [endpointVariable]: endpoint, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = env;
  if (endpoint === undefined) return {};
  return {
    endpoint,
    region: AWS_REGION ?? '',
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID ?? '', secretAccessKey: AWS_SECRET_ACCESS_KEY ?? '' },
  };
};
