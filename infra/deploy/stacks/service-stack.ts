import { CfnElement, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { readShared, writeShared } from '../constructs/shared-value.ts';
import { type Stage, stackName } from '../stage/settings.ts';

export interface ServiceStackProps {
  readonly stage: Stage;
  /** The part of the stack's name after `payments-<stage>-`. */
  readonly part: string;
  readonly description: string;
}

/** The common part of every stack of the service. */
export class ServiceStack extends Stack {
  readonly production: boolean;
  readonly #stage: Stage;
  readonly #part: string;

  constructor(scope: Construct, { stage, part, description }: ServiceStackProps) {
    const name = stackName(stage, part);
    const properties: StackProps = { stackName: name, description, terminationProtection: stage === 'prod' };
    super(scope, name, { ...properties, tags: { service: 'payments', stage } });
    this.production = stage === 'prod';
    this.#stage = stage;
    this.#part = part;
  }

  /**
   * In prod, resources with data are retained; elsewhere, they are deleted. A failed first deployment always deletes
   * them, so that the next deployment can create them.
   */
  get removalPolicy(): RemovalPolicy {
    return this.production ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
  }

  logGroup(id: string, { encryptionKey, days }: { readonly encryptionKey: IKey; readonly days: number }): LogGroup {
    return new LogGroup(this, id, { encryptionKey, retention: days, removalPolicy: this.removalPolicy });
  }

  logicalIdOf({ node: { defaultChild } }: Construct): string {
    if (!CfnElement.isCfnElement(defaultChild)) throw new Error('a construct without a resource has no logical id');
    return this.getLogicalId(defaultChild);
  }

  /** Publishes values for later stacks. */
  share(values: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(values)) {
      writeShared(this, { stage: this.#stage, part: this.#part, name }, value);
    }
  }

  /** Reads a value of an earlier stack. */
  shared(part: string, name: string): string {
    return readShared(this, { stage: this.#stage, part, name });
  }
}
