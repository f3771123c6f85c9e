/** @module Identifies the caller and the account before anything is built. Each reason to stop is one line. */

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import type { Environment } from '../../../shared/core/setting.ts';

/** The AWS profile and region of all steps. */
export interface Account {
  /** If undefined, the SDK finds the credentials itself. */
  readonly profile?: string;
  readonly region: string;
}

/** A reason to stop, for the operator to fix. Its message is one line. */
export class AccountError extends Error {}

const TIMEOUTS = { connectionTimeout: 2_000, requestTimeout: 5_000 };

/**
 * @param given the command's options, which override the variables
 * @throws AccountError if the profile is unknown or no region is set. Without a region, CDK would use us-east-1
 * while the SDK fails.
 */
export const accountOf = async (
  given: { readonly profile?: string; readonly region?: string },
  variables: Environment,
): Promise<Account> => {
  const named = given.profile || variables['AWS_PROFILE'] || variables['AWS_DEFAULT_PROFILE'];
  if (named) requireProfile(named, variables);
  const by = named ? { profile: named } : {};
  const asked = given.region || variables['AWS_REGION'] || variables['AWS_DEFAULT_REGION'];
  return { ...by, region: asked || (await regionOf(by)) };
};

const regionOf = (by: { readonly profile?: string }): Promise<string> =>
  new STSClient(by).config.region().catch((cause: unknown) => {
    throw new AccountError('no region; set --region or AWS_REGION, or a region in the profile', { cause });
  });

const requireProfile = (named: string, variables: Environment): void => {
  const folder = join(homedir(), '.aws');
  const profiles = [
    variables['AWS_CONFIG_FILE'] || join(folder, 'config'),
    variables['AWS_SHARED_CREDENTIALS_FILE'] || join(folder, 'credentials'),
  ].flatMap(profilesIn);
  if (profiles.includes(named)) return;
  const known = [...new Set(profiles)].toSorted();
  throw new AccountError(
    `no AWS profile ${named}; ${known.length > 0 ? `known: ${known.join(', ')}` : 'this machine has no profiles'}`,
  );
};

/** The profiles in an AWS configuration file. */
const profilesIn = (file: string): readonly string[] =>
  existsSync(file)
    ? [...readFileSync(file, 'utf8').matchAll(/^\s*\[\s*(?:profile\s+)?["']?([^\]"'\s]+)["']?\s*\]/gm)].map(
        ([, name]) => name ?? '',
      )
    : [];

/** @throws AccountError if no AWS region has this name. */
export const requireRegion = (region: string): void => {
  const known = RegionInfo.regions.map(({ name }) => name);
  if (known.includes(region)) return;
  const area = known.filter((name) => name.slice(0, 2) === region.slice(0, 2)).toSorted();
  throw new AccountError(
    `${region} is not an AWS region that this version knows; regions: ${(area.length > 0 ? area : known).join(', ')}; to use it all the same: --force`,
  );
};

/** @returns the account and the caller, as a phrase. @throws AccountError if AWS rejects the caller. */
export const identifyCaller = async (account: Account): Promise<string> => {
  const client = new STSClient({ ...account, maxAttempts: 2, requestHandler: TIMEOUTS });
  try {
    await client.config.credentials();
    const { Account: id, Arn } = await client.send(new GetCallerIdentityCommand({}));
    return `account ${id} as ${Arn}`;
  } catch (cause) {
    throw new AccountError(problemOf(cause, account), { cause });
  }
};

/** Errors before AWS responds. */
const UNREACHABLE: readonly string[] = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT'];
const EXPIRED: readonly string[] = ['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired'];

const problemOf = (error: unknown, { profile, region }: Account): string => {
  const { name, message, code } = detailsOf(error);
  const by = profile ? `the profile ${profile}` : 'the environment';
  if (EXPIRED.includes(name)) return `the AWS credentials of ${by} have expired; sign in again`;
  if (name === 'CredentialsProviderError') {
    return profile
      ? `no AWS credentials in the profile ${profile}: ${message}`
      : 'no AWS credentials; set --profile or AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';
  }
  if (name === 'TimeoutError' || UNREACHABLE.includes(code)) return `AWS cannot be reached in ${region}: ${message}`;
  return `AWS refuses the credentials of ${by}: ${name}: ${message}`;
};

const detailsOf = (error: unknown): { readonly name: string; readonly message: string; readonly code: string } => {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), code: '' };
  const [message = ''] = error.message.split('\n');
  return { name: error.name, message, code: 'code' in error ? String(error.code) : '' };
};
